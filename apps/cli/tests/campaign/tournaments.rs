//! A tournament is killed at its changes of files and resumed: it ends in the same bytes.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use super::{Fault, compiled_shim, files, places, text};

/// Plays the tournament in a folder, or continues with it.
fn arena(shim: &Path, out: &Path, threads: &str, fault: Option<Fault>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
    command.args(["arena", "mu_torere", "mcts:sims=10", "random", "alphabeta:depth=2", "--games", "4"]);
    command.args(["--threads", threads, "--out"]).arg(out).args(out.exists().then_some("--resume"));
    command.env("LD_PRELOAD", shim).env("FAULT_FOLDER", out).env("FAULT_COUNT", out.with_extension("count"));
    if let Some(Fault { kind, at }) = fault {
        command.env("FAULT_KIND", kind).env("FAULT_AT", at.to_string());
    }
    command.output().expect("it runs")
}

#[test]
fn killed_tournaments_end_in_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (shim, whole) = (compiled_shim(folder.path()), folder.path().join("whole"));
    assert!(arena(&shim, &whole, "1", None).status.success());
    let count = fs::read_to_string(whole.with_extension("count")).expect("the shim counts");
    let changes: u64 = count.trim().parse().expect("a number");
    assert!(changes > 30, "{changes} changes");
    let compared = |out: &Path| files(out).into_iter().filter(|file| file != "lock").collect::<Vec<_>>();
    for at in places(changes) {
        for kind in ["kill", "torn"] {
            let out = folder.path().join(format!("{kind}{at}"));
            let killed = arena(&shim, &out, "1", Some(Fault { kind, at }));
            assert_eq!(killed.status.signal(), Some(9), "{kind} at {at}: {}", text(&killed));
            let resumed = arena(&shim, &out, "2", None);
            assert!(resumed.status.success(), "{kind} at {at}: {}", text(&resumed));
            assert_eq!(compared(&out), compared(&whole), "{kind} at {at}");
            for file in compared(&whole) {
                let read = |out: &Path| fs::read(out.join(&file)).expect("readable");
                assert!(read(&out) == read(&whole), "{kind} at {at}: {file} differs");
            }
            fs::remove_dir_all(&out).expect("it was there");
        }
    }
    println!("{} kills of a tournament: the same bytes", 2 * places(changes).count());
}

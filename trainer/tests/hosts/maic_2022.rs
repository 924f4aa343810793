//! The contest of MAIC 2022: games against a random player, and engines that fail.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{FRONTENDS, TURNSTONE, python, texts};

/// A shell script that stands in for the program.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a file");
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("permissions");
    path
}

fn contest(games: &str, seconds: &str) -> Command {
    let [ours, random] = ["ai_turnstone.py", "stub/ai_random.py"].map(|file| format!("{FRONTENDS}/maic2022/{file}"));
    python("maic2022/stub/main.py", &["-ai0", &ours, "-ai1", &random, "-g", games, "-t", seconds])
}

#[test]
fn twenty_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let pids = folder.path().join("pids");
    let wrapper =
        script(folder.path(), "turnstone", &format!("echo $$ >> '{}'\nexec '{TURNSTONE}' \"$@\"", pids.display()));
    let (games, complaints) = texts(contest("20", "0.5").env("TURNSTONE", wrapper));
    assert_eq!(games.lines().count(), 20, "{games}");
    for fault in ["not legal", "error", "ended", "gone"] {
        assert!(!complaints.contains(fault), "{complaints}");
    }
    // One engine for each seat, and all have ended.
    let pids = fs::read_to_string(pids).expect("the engines' ids");
    assert_eq!(pids.lines().count(), 2);
    assert!(pids.lines().all(|pid| !Path::new("/proc").join(pid).exists()), "{pids}");
}

#[test]
fn goes_on_without_an_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let silent = "while read -r line; do if [ \"$line\" = isready ]; then echo readyok; fi; done";
    let wrong = "while read -r line; do case $line in isready) echo readyok;; go*) echo bestmove z9;; esac; done";
    for (engine, complaint) in [
        (script(folder.path(), "silent", silent), "sends no `bestmove` in time"),
        (script(folder.path(), "wrong", wrong), "z9 is not legal here"),
        (script(folder.path(), "ended", "exit 3"), "the engine has"),
        (folder.path().join("nothing"), "No such file"),
    ] {
        let (games, complaints) = texts(contest("2", "1").env("TURNSTONE", engine));
        assert_eq!(games.lines().count(), 2);
        assert!(complaints.contains(complaint), "{complaints}");
    }
}

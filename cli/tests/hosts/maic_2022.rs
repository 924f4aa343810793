//! The contest of MAIC 2022: games against a random player, and engines that fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{FRONTENDS, TURNSTONE, python, texts};

/// A shell script that stands in for the program. It is written by a shell: a file that this process has had open for
/// writing cannot be executed while a child process of another thread still has it open.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    let write = r#"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod +x "$2""#;
    texts(Command::new("sh").args(["-c", write, "sh", text]).arg(&path));
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
    let mut command = contest("20", "20");
    let (games, complaints) = texts(command.env("TURNSTONE", wrapper).env("TURNSTONE_SECONDS", "0.01"));
    assert_eq!(games.lines().count(), 20, "{games}");
    assert_eq!(complaints, "");
    // One engine per seat, and all have ended.
    let pids = fs::read_to_string(pids).expect("the engines' ids");
    assert_eq!(pids.lines().count(), 2);
    assert!(pids.lines().all(|pid| !Path::new("/proc").join(pid).exists()), "{pids}");
}

/// The stand-in ends with an error when a player's time is up.
#[test]
fn a_game_within_three_seconds() {
    let (games, complaints) = texts(&mut contest("1", "3"));
    assert_eq!((games.lines().count(), complaints.as_str()), (1, ""));
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
        let (games, complaints) = texts(contest("2", "2").env("TURNSTONE", engine));
        assert_eq!(games.lines().count(), 2);
        assert!(complaints.contains(complaint), "{complaints}");
    }
}

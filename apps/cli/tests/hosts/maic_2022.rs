//! The contest of MAIC 2022: games against a random player, and engines that fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{HOSTS, TURNSTONE, output, python, texts};

/// A shell script that stands in for the program. It is written by a shell: a file that this process has had open for
/// writing cannot be executed while a child process of another thread still has it open.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    let write = r#"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod +x "$2""#;
    texts(Command::new("sh").args(["-c", write, "sh", text]).arg(&path));
    path
}

fn contest(games: &str, seconds: &str) -> Command {
    let [ours, random] = ["ai_turnstone.py", "stub/ai_random.py"].map(|file| format!("{HOSTS}/maic2022/{file}"));
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

/// A program with the adapter and the stand-in's modules.
fn adapter(program: &str) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", program]).env("PYTHONPATH", format!("{HOSTS}/maic2022/stub:{HOSTS}/maic2022"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("TURNSTONE", TURNSTONE).env_remove("TURNSTONE_AGENT");
    command
}

/// Every action that is a choice is the engine's, also when next to no time is left (by a clock that the test moves).
#[test]
fn the_engine_is_asked_at_every_ply_of_choice() {
    let program = r#"
import random
from copy import deepcopy
from core import Color
from ai_turnstone import AI
from morabaraba.morabaraba_rules import MorabarabaRules
from morabaraba.morabaraba_state import MorabarabaState

random.seed(1)
player, asked = AI(Color(-1)), []
ask = player.ask
player.ask = lambda position, go, *rest: asked.append(go) or ask(position, go, *rest)
state, over, choices, left = MorabarabaState(boring_limit=200), False, 0, 2.0
while not over:
    side = state.get_next_player()
    if side == -1:
        choices += len(MorabarabaRules.get_player_actions(state, side)) > 1
        action, left = player.play(deepcopy(state), left), max(0.0005, left - 0.1)
    else:
        action = MorabarabaRules.random_play(state, side)
    state, over, _ = MorabarabaRules.act(state, action, side)
print(choices > 20, choices == len(asked), left, sorted({go.split()[1] for go in asked}))
"#;
    assert_eq!(texts(&mut adapter(program)), ("True True 0.0005 ['depth', 'movetime']\n".to_owned(), String::new()));
}

/// 190 own plies (380 of the game) fit into the time, however long a ply takes besides its search.
#[test]
fn the_time_lasts() {
    let program = r#"
from core import Color
from ai_turnstone import AI
player = AI(Color(-1))
for total, beside in [(5.0, 0.003), (5.0, 0.02), (60.0, 0.003), (0.5, 0.001), (5.0, 0.003)]:
    player.reset_player_informations()
    left, searches = total, []
    while left > 0 and player.plies < 190:
        go = player.budget(left)
        player.plies += 1
        searches.append("movetime" in go)
        left -= beside + (int(go.split()[-1]) / 1000 if "movetime" in go else 0.001)
    print(total, beside, len(searches), left > 0, sum(searches), go if total < 60 else "")
"#;
    let (lines, _) = texts(&mut adapter(program));
    let expected = "5.0 0.003 190 True 114 go depth 2\n5.0 0.02 190 True 32 go depth 2\n60.0 0.003 190 True 190 \n\
                    0.5 0.001 190 True 0 go depth 2\n5.0 0.003 190 True 114 go depth 2\n";
    assert_eq!(lines, expected);
}

/// An engine that fails once in a game is started again; the game continues.
#[test]
fn one_failure_is_survived() {
    let folder = tempfile::tempdir().expect("a folder");
    let flag = folder.path().join("flag");
    let once = format!(
        "[ -e '{0}' ] && exec '{TURNSTONE}' \"$@\"\ntouch '{0}'\nwhile read -r line; do \
         case $line in isready) echo readyok;; go*) exit 3;; esac; done",
        flag.display()
    );
    let (games, complaints) = texts(contest("1", "5").env("TURNSTONE", script(folder.path(), "once", &once)));
    assert_eq!(games.lines().count(), 1);
    assert_eq!(complaints, "ai_turnstone: the engine has ended; it is started again\n");
}

/// Without an engine nothing is played, and the error is said once.
#[test]
fn refuses_to_play_without_an_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let silent = "while read -r line; do if [ \"$line\" = isready ]; then echo readyok; fi; done";
    let wrong = "while read -r line; do case $line in isready) echo readyok;; go*) echo bestmove z9;; esac; done";
    for (engine, agent, complaint) in [
        (script(folder.path(), "silent", silent), "alphabeta", "sends no `bestmove` within 1.00 s (position "),
        (script(folder.path(), "wrong", wrong), "alphabeta", "the engine plays z9, which is not legal here (position "),
        (
            script(folder.path(), "ended", "exit 3"),
            "alphabeta",
            "with TURNSTONE_AGENT='alphabeta': the engine has ended",
        ),
        (folder.path().join("nothing"), "alphabeta", "/nothing': No such file or directory"),
        (PathBuf::from(TURNSTONE), "az:nowhere", "with TURNSTONE_AGENT='az:nowhere': the engine has ended"),
    ] {
        let output = output(contest("2", "2").env("TURNSTONE", engine).env("TURNSTONE_AGENT", agent));
        let complaints = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]), "{complaints}");
        let errors: Vec<&str> =
            complaints.lines().filter(|line| line.starts_with("ai_turnstone.EngineError: ")).collect();
        assert!(errors.len() == 1 && errors[0].contains(complaint), "{complaint}: {complaints}");
    }
}

//! Text files and input of people and other programs: any line breaks, a byte-order mark, and comments where a file may have them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::calls::{command, stdout, turnstone};

/// A text in each form that an editor or a conversion may leave.
fn forms(text: &str, comments: bool) -> Vec<(&'static str, String)> {
    let windows = text.replace('\n', "\r\n");
    let mut forms = vec![
        ("LF", text.to_owned()),
        ("CRLF", windows.clone()),
        ("a byte-order mark", format!("\u{feff}{text}")),
        ("both", format!("\u{feff}{windows}")),
    ];
    if comments {
        forms.push(("comments", format!("# a file\n\n{}# its end", text.replace('\n', " # a line\n"))));
        forms.push(("all", format!("\u{feff}# a file\r\n\r\n{}# its end", text.replace('\n', " # a line\r\n"))));
    }
    forms
}

/// Writes each form to the file and checks that `result` stays the same.
fn all_forms_are_one(path: &Path, text: &str, comments: bool, result: impl Fn() -> String) {
    let mut first = None;
    for (form, text) in forms(text, comments) {
        fs::write(path, text).expect("writable");
        let result = result();
        assert_eq!(&result, first.get_or_insert_with(|| result.clone()), "{} with {form}", path.display());
    }
}

/// What a command prints about input in each form.
fn all_inputs_are_one(text: &str, args: &[&str]) {
    let mut first = None;
    for (form, text) in forms(text, false) {
        let mut child = command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program runs");
        child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("the program ends");
        // Lines of `info` say how long a search took.
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        let said = said.lines().filter(|line| !line.starts_with("info ")).collect::<Vec<_>>().join("\n");
        assert!(output.status.success() && !said.contains("error"), "{args:?} with {form}: {said}");
        assert_eq!(&said, first.get_or_insert_with(|| said.clone()), "{args:?} with {form}");
    }
}

#[test]
fn every_file_is_read_in_every_form() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let file = path("file");

    // Openings of a match, and a ladder.
    let book = ["arena", "mancala", "random", "random", "--games", "4", "--json", "--openings", &file];
    all_forms_are_one(file.as_ref(), "B5 A3\nB4\n", true, || stdout(&book));
    let ladder = include_str!("../../../games/src/mu_torere/ladder.toml").split("[[rungs]]").take(3);
    let ladder = ladder.collect::<Vec<_>>().join("[[rungs]]");
    let rated = ["arena", "mu_torere", "mcts:sims=2", "--games", "2", "--json", "--ladder", "--ladder-file", &file];
    all_forms_are_one(file.as_ref(), &ladder, true, || stdout(&rated));
    let cup = "[game]\nname = \"mancala\"\n[arena]\nagents = [\"random\", \"mcts:sims=1\"]\ngames = 2\n";
    let toml = path("cup.toml");
    all_forms_are_one(toml.as_ref(), cup, true, || stdout(&["arena", &toml, "--json"]));

    // Positions to sample from, and positions with exact values, whose checksum leaves no place for comments.
    let set = path("set");
    let starts = ["grade", "mu_torere", "--sample", "3", "--starts", &file, "--save", &set];
    all_forms_are_one(file.as_ref(), "121202121 1 0\n121202121 2 0\n", true, || {
        stdout(&starts);
        fs::read_to_string(&set).expect("written")
    });
    let known = fs::read_to_string(&set).expect("written");
    let grade = ["grade", "mu_torere", "--agent", "random", "--json", "--positions", &set];
    all_forms_are_one(set.as_ref(), &known, false, || stdout(&grade));

    // Saved games: moves, records, and the journal of a match, which is continued as well.
    let show = ["show", "mancala", "--from", &file, "--json"];
    all_forms_are_one(file.as_ref(), "B5 A3 B4\n", true, || stdout(&show));
    let played = stdout(&["play", "mancala", "--p1", "mcts:sims=1", "--p2", "mcts:sims=1", "--json"]);
    let show = ["show", "--from", &file, "--json"];
    all_forms_are_one(file.as_ref(), &played, false, || stdout(&show));
    let (cup, journal) = (path("cup"), path("cup/games.jsonl"));
    let arena = ["arena", "mancala", "mcts:sims=1", "random", "--games", "4", "--out", &cup];
    stdout(&arena);
    let games = fs::read_to_string(&journal).expect("written");
    let show = ["show", "--from", &journal, "--number", "2", "--json"];
    all_forms_are_one(journal.as_ref(), &games, false, || stdout(&show));
    let half = games.split_inclusive('\n').take(3).collect::<String>();
    for text in [half.clone(), half.replace('\n', "\r\n")] {
        fs::write(&journal, text).expect("writable");
        stdout(&[&arena[..], &["--resume"]].concat());
        assert!(fs::read_to_string(&journal).expect("written") == games, "the same games");
    }
}

#[test]
fn every_file_of_a_run_is_read_in_every_form() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (config, openings, run) = (path("config.toml"), path("openings"), path("run"));
    let text = "[game]\nname = \"mu_torere\"\n[net]\nwidth = 8\nblocks = 1\n[search]\nsimulations = 2\n\
                [self_play]\nopenings = \"openings\"\ngames_per_iteration = 2\n[learn]\nbatch = 8\n\
                [arena]\ngames = 2\nfinal_games = 2\nopponents = [\"random\"]\n[run]\niterations = 1\n";
    let positions = "121202121 1 0\n121202121 2 0\n";
    let trained = || {
        stdout(&["train", &config, "--run", &run, "--overwrite", "--quiet"]);
        fs::read_to_string(path("run/config.toml")).expect("written")
    };
    fs::write(&openings, positions).expect("writable");
    all_forms_are_one(config.as_ref(), text, true, trained);
    all_forms_are_one(openings.as_ref(), positions, true, trained);

    // What the run has written: its config, and lines with checksums.
    for name in ["run/config.toml", "run/metrics.jsonl", "run/provenance.jsonl"] {
        let file = path(name);
        fs::write(&file, fs::read_to_string(&file).expect("written").replace('\n', "\r\n")).expect("writable");
        let resumed = turnstone(&["train", "--resume", &run, "--quiet", "--set", "run.iterations=2"]);
        let said = String::from_utf8(resumed.stderr).expect("UTF-8");
        assert!(resumed.status.success() && !said.contains("checksum"), "{name}: {said}");
    }
}

#[test]
fn input_is_read_in_every_form() {
    all_inputs_are_one("B5 A3\nB4\n", &["show", "mancala", "--legal", "--stdin"]);
    let go = "ugi\nisready\nuginewgame\nposition startpos moves B5 A3\ngo depth 2\nquit\n";
    all_inputs_are_one(go, &["engine", "mancala", "--agent", "minimax:depth=2"]);
    all_inputs_are_one(
        "{\"id\":\"a\",\"moves\":[\"B5\"],\"simulations\":4}\n",
        &["analyse", "mancala", "--agent", "az:pretrained,sims=4", "--threads", "1"],
    );
}

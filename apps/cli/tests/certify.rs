//! `certify`: results, certificates, refutations, interruptions and faults.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::calls::{command, fault, stdout, turnstone};

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[&["certify", "--json"], args].concat())).expect("JSON")
}

/// The last line of the errors of a command that must fail: those before it say how much memory there is.
fn last_fault(args: &[&str]) -> String {
    let output = turnstone(&[&["certify"], args].concat());
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(matches!(output.status.code(), Some(1 | 2)) && !errors.contains("panicked"), "{args:?}: {errors}");
    if output.status.code() == Some(2) { errors } else { errors.lines().last().unwrap_or_default().to_owned() }
}

#[test]
fn the_shipped_agent_of_a_small_game_cannot_be_beaten_and_its_certificate_proves_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let both = json(&["mu_torere", "--agent", "az:pretrained,sims=0"]);
    for (seat, numbers) in [(0, [1, 4974, 2863, 0]), (1, [2, 9525, 5292, 0])] {
        let found = &both["seats"][seat];
        assert_eq!(
            ["seat", "positions", "decisions", "beaten"].map(|key| found[key].clone()),
            numbers.map(Value::from)
        );
        assert_eq!((&found["complete"], &found["openings"][0]["result"]), (&true.into(), &0.into()));
    }
    let file = path("2.certificate");
    let agent = ["--agent", "az:pretrained,sims=0", "--seat", "2", "--out", &file];
    let text = stdout(&[&["certify", "mu_torere"][..], &agent].concat());
    assert!(text.contains("cannot be beaten: at least a draw") && text.contains("5292 decisions"), "{text}");
    let proven = stdout(&["certify", "--check", &file]);
    assert!(proven.contains("proven") && proven.contains("player 2 of mu_torere"), "{proven}");
    assert_eq!(json(&["--check", &file])["claim"]["decisions"], 5292);
    stdout(&["certify", "mu_torere", "--check", &file]);
    let other = fault(&["certify", "mu_torere", "--param", "max_plies=50", "--check", &file]);
    assert!(other.contains("not for this game"), "{other}");
    let mut bytes = fs::read(&file).expect("written");
    *bytes.last_mut().expect("not empty") ^= 1;
    fs::write(&file, &bytes).expect("writable");
    let damaged = fault(&["certify", "--check", &file]);
    assert!(damaged.contains("2.certificate: its moves do not match their checksum"), "{damaged}");
}

/// Where tables or a search know the values of a game from its start, `exact` comes to them.
#[test]
fn exact_agents_come_to_the_value_of_the_game() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tables = folder.path().display().to_string();
    let agent = format!("exact:{tables}");
    for (game, params, extra, value) in [
        ("mu_torere", &[][..], &["--endless"][..], 0),
        ("mancala", &["--param", "pits=3", "--param", "stones=2"], &[], 1),
        ("konane", &["--param", "size=4"], &[], -1),
        ("morris", &["--param", "pieces=3"], &["--endless"], 0),
    ] {
        if !matches!(game, "mu_torere" | "konane") {
            stdout(&[&["solve", game, "--out", &tables][..], params].concat());
        }
        let found = json(&[&[game, "--agent", &agent, "--tables", &tables][..], params, extra].concat());
        let results = [0, 1].map(|seat| found["seats"][seat]["openings"][0]["result"].clone());
        assert_eq!(results, [value, -value].map(Value::from), "{game}: {found}");
    }
}

#[test]
fn refutations_are_saved_games_and_openings_a_table() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, book) = (path("lost.json"), path("openings.txt"));
    let agent = ["konane", "--param", "size=4", "--agent", "random"];
    let text = stdout(&[&["certify"][..], &agent, &["--seat", "2", "--save", &file]].concat());
    assert!(text.contains("can be beaten in ") && text.contains("gives it away: "), "{text}");
    assert!(text.contains("/?game=konane&param.size=4#moves=xa4+x"), "{text}");
    let record: Value = serde_json::from_str(&fs::read_to_string(&file).expect("written")).expect("one game");
    assert_eq!((&record["outcome"], &record["players"][1]), (&"player1".into(), &"random".into()));
    let review = stdout(&["review", &file, "--agent", "alphabeta:depth=2"]);
    assert!(review.starts_with("konane: refutation against random"), "{review}");
    let moves = record["moves"].as_array().expect("moves");
    let [first, second] = [0, 1].map(|ply| moves[ply].as_str().expect("a move"));
    fs::write(&book, format!("{first}\n{first} {second}\n")).expect("writable");
    let found = json(&[&agent[..], &["--seat", "2", "--openings", &book]].concat());
    let openings = found["seats"][0]["openings"].as_array().expect("openings");
    assert_eq!(openings.len(), 2);
    for (opening, plies) in openings.iter().zip(1..) {
        assert_eq!(opening["opening"].as_str().map(|moves| moves.split(' ').count()), Some(plies));
        assert_eq!(opening["result"], -1);
        // The rest of the same line, or another that is as short.
        assert_eq!(opening["refutation"]["moves"].as_array().map(Vec::len), Some(moves.len() - plies));
    }
    let table = stdout(&[&["certify"][..], &agent, &["--seat", "2", "--openings", &book]].concat());
    let beaten = format!(": can be beaten in {} plies", moves.len() - 2);
    let (_, after) = table.split_once("  xa4 x").expect("people see the openings as on the board");
    assert!(after.lines().next().is_some_and(|line| line.ends_with(&beaten)), "{table}");
    assert!(table.contains("guaranteed from the 2 openings: 0.0 % of the points"), "{table}");
    // The shipped network draws from the start, whoever begins, and after each of its first moves.
    fs::write(&book, "0,4\n2,4\n").expect("writable");
    let shipped = json(&["mu_torere", "--agent", "az:pretrained,sims=0", "--seat", "2", "--openings", &book]);
    assert_eq!(shipped["seats"][0]["guaranteed"], 0.5);
}

/// Killed again and again, a walk ends with the bytes of one that was left alone.
#[test]
fn a_killed_walk_continues() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (alone, killed, work) = (path("alone"), path("killed"), path("work"));
    let agent = ["mu_torere", "--agent", "az:pretrained,sims=40", "--seat", "1"];
    stdout(&[&["certify"][..], &agent, &["--out", &alone]].concat());
    let again = [&["certify"][..], &agent, &["--out", &killed, "--work", &work]].concat();
    let length = || fs::metadata(format!("{work}/player-1.moves")).map_or(0, |about| about.len());
    let mut lengths = Vec::new();
    for _ in 0..3 {
        let mut child = command(&again).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs");
        let before = length();
        while length() <= before + 20 && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("it is killed or over");
        child.wait().expect("it has ended");
        lengths.push(length());
    }
    assert!(lengths[0] > 0 && lengths.is_sorted(), "{lengths:?}");
    stdout(&again);
    assert_eq!(fs::read(&killed).expect("written"), fs::read(&alone).expect("written"));
    let other = last_fault(&["mu_torere", "--agent", "random", "--seat", "1", "--work", &work]);
    assert!(other.contains("player-1.moves: it belongs to another agent"), "{other}");
}

#[test]
fn faults_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let file = path("a.certificate");
    fs::write(path("empty"), "").expect("writable");
    for (args, expected) in [
        (&["mu_torere"][..], "--agent"),
        (&["--agent", "random"], "GAME"),
        (&["mu_torere", "--agent", "random", "--seat", "3"], "--seat"),
        (&["mu_torere", "--agent", "random", "--out", &file], "give --seat 1 or --seat 2"),
        (
            &["mu_torere", "--agent", "random", "--out", &file, "--seat", "1"],
            "can be beaten as player 1, so there is no",
        ),
        (
            &["mu_torere", "--agent", "az:pretrained,time=1s"],
            "is no function of the position: its moves depend on time",
        ),
        (&["mu_torere", "--agent", "az:pretrained,sims=8,temperature=1"], "drawn at a temperature"),
        (&["konane", "--agent", "random", "--endless"], "konane has no limit on plies"),
        (
            &["mancala", "--agent", "random", "--positions", "99", "--seat", "1", "--out", &file],
            "more than 99 positions",
        ),
        (&["mu_torere", "--agent", "random", "--openings", "absent"], "opening book absent"),
        (&["--check", "absent"], "absent"),
        (&["--check", &path("empty")], "it is no certificate"),
        (&["--check", &file, "--agent", "random"], "--check"),
    ] {
        let found = last_fault(args);
        assert!(found.contains(expected), "{args:?}: {found}");
    }
    assert!(!fs::exists(&file).expect("readable"));
    let some = stdout(&["certify", "mancala", "--agent", "random", "--positions", "99", "--seat", "1"]);
    assert!(some.contains("so far; there are more"), "{some}");
}

/// A repaired agent plays by its book, and a certificate of it proves that it cannot be beaten.
#[test]
fn a_repaired_agent_cannot_be_beaten() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (config, run, book, file) = (path("config.toml"), path("run"), path("repaired.book"), path("a.certificate"));
    fs::write(&config, UNTRAINED).expect("writable");
    stdout(&["train", &config, "--run", &run]);
    let agent = format!("az:{run},sims=0");
    let endless = ["mu_torere", "--endless", "--seat", "2"];
    let first = json(&[&endless[..], &["--agent", &agent]].concat());
    assert_eq!(first["seats"][0]["openings"][0]["result"], -1, "an untrained network can be beaten");
    let repaired = json(&[&endless[..], &["--agent", &agent, "--repair", &book, "--out", &file]].concat());
    assert_eq!(repaired["seats"][0]["openings"][0]["result"], 0);
    assert!(stdout(&["certify", "--check", &file]).contains("proven"));
    let (corrected, again) = (format!("{agent},book={book}"), path("again.certificate"));
    let proof = stdout(&[&["certify"][..], &endless, &["--agent", &corrected, "--out", &again]].concat());
    assert!(proof.contains("cannot be beaten: at least a draw"), "{proof}");
    assert_eq!(fs::read(&again).expect("readable"), fs::read(&file).expect("readable"), "the repair has the same one");
    let twice = last_fault(&["mu_torere", "--agent", &corrected, "--repair", &path("twice.book")]);
    assert!(twice.contains("has a book already"), "{twice}");
    assert!(last_fault(&["mu_torere", "--agent", "random", "--repair", &book]).contains("has no network"));
    let other = fault(&["certify", "mu_torere", "--agent", &format!("az:pretrained,book={book}")]);
    assert!(other.contains("repaired.book: it is a book of another network"), "{other}");
}

/// Ends after a single small step of learning.
const UNTRAINED: &str = r#"
seed = 1
[game]
name = "mu_torere"
[net]
kind = "residual_mlp"
blocks = 1
width = 8
[search]
simulations = 2
[self_play]
games_per_iteration = 4
concurrent_games = 4
[learn]
batch = 16
[arena]
every = 0
final_games = 2
[run]
iterations = 1
"#;

//! `review`: text, JSON and page of saved games, and its faults.

use std::fs;

use serde_json::Value;

use super::calls::{fault, stdout};

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[&["review", "--json"], args].concat())).expect("JSON")
}

#[test]
fn a_saved_game_is_reviewed_as_text_json_and_page() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, page) = (path("a game.json"), path("review.html"));
    let played = stdout(&["play", "mu_torere", "--p1", "random", "--p2", "random", "--seed", "3", "--json"]);
    fs::write(&file, &played).expect("writable");
    let record: Value = serde_json::from_str(&played).expect("JSON");
    let agent = ["--agent", "az:pretrained,sims=50"];
    let review = json(&[&[&file[..], "--exact", "--html", &page][..], &agent].concat());
    assert_eq!((&review["turnstone_review"], &review["game"]), (&1.into(), &"mu_torere".into()));
    assert_eq!((&review["players"], &review["start"]), (&record["players"], &record["start"]));
    assert_eq!((&review["agent"], &review["exact"]), (&agent[1].into(), &true.into()));
    assert!(review["program"].as_str().is_some_and(|program| program.starts_with("turnstone ")), "{review}");
    let moves = review["moves"].as_array().expect("moves");
    assert_eq!(moves.len(), record["moves"].as_array().expect("moves").len());
    for (reviewed, text) in moves.iter().zip(record["moves"].as_array().expect("moves")) {
        assert_eq!((&reviewed["move"], &reviewed["source"]), (text, &"exact".into()));
    }
    let text = stdout(&[&["review", &file, "--exact"][..], &agent].concat());
    // Only commands are longer than a terminal.
    assert!(text.lines().all(|line| line.chars().count() <= 80 || line.contains("turnstone play")), "{text}");
    let moments: Vec<u64> = review["moments"].as_array().expect("plies").iter().filter_map(Value::as_u64).collect();
    for ply in &moments {
        let command = format!("turnstone play --from '{file}' --ply {} --p", ply - 1);
        assert!(text.contains(&command), "{command}: {text}");
    }
    let html = fs::read_to_string(&page).expect("written");
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("Mu Torere"), "{html}");
    assert_eq!(html.matches("card game moment").count(), moments.len());
    assert_eq!(
        json(&[&[&file[..], "--threads", "1"][..], &agent].concat()),
        json(&[&[&file[..], "--threads", "3"][..], &agent].concat())
    );
}

/// What people read has the board's notation, what programs read the source's, and either is read.
#[test]
fn people_read_one_notation_and_programs_the_sources() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, page) = (path("moves.txt"), path("review.html"));
    let (shown, written) = (["xa4", "xb4", "a2-a4"], ["remove(4,1)", "remove(4,2)", "jump(2,1,4,1)"]);
    let small = ["--param", "size=4"];
    for moves in [shown, written] {
        fs::write(&file, moves.join(" ")).expect("writable");
        let agent = ["konane", "--agent", "alphabeta:depth=1", "--html", &page];
        let review = stdout(&[&["review", &file][..], &agent, &small].concat());
        let reviewed = json(&[&[&file[..]][..], &agent[..3], &small].concat());
        let html = fs::read_to_string(&page).expect("written");
        for ((shown, written), reviewed) in shown.iter().zip(written).zip(reviewed["moves"].as_array().expect("moves"))
        {
            assert!(review.contains(&format!("  {shown} ")) && html.contains(&format!(">{shown}<")), "{review}");
            assert_eq!(reviewed["move"], written);
        }
        assert!(html.contains(&format!(r#""moves":"{}""#, shown.join(" "))), "the line that the script steps through");
        for text in [review, html] {
            assert!(!text.contains("remove(4") && !text.contains("jump(2"), "{text}");
        }
        let moves = moves.join(" ");
        let position = [&["konane", "--moves", &moves][..], &small].concat();
        let [print, program, analysed] =
            [&["show", "--legal"][..], &["show", "--legal", "--json"], &["analyse", "--agent", "alphabeta:depth=2"]]
                .map(|command| stdout(&[&command[..1], &position, &command[1..]].concat()));
        assert!(
            print.contains("legal: b2-b4 d4-b4 c3-a3") && program.contains(r#"jump(4,4,4,2)"#),
            "{print} {program}"
        );
        assert!(analysed.contains("best action   b2-b4"), "{analysed}");
    }
    let illegal = [&["show", "konane", "--moves", "xa4 remove(1,2)"][..], &small].concat();
    assert!(fault(&illegal).contains("illegal action `xb1`; legal: xb4 xa3"), "{}", fault(&illegal));
}

#[test]
fn the_lost_games_of_a_match_are_listed_and_the_first_reviewed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("cup").display().to_string();
    stdout(&[
        "arena",
        "mu_torere",
        "exact",
        "random",
        "--games",
        "20",
        "--openings",
        "2",
        "--seed",
        "3",
        "--out",
        &out,
    ]);
    let journal = format!("{out}/games.jsonl");
    let games: Vec<Value> = fs::read_to_string(&journal)
        .expect("written")
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let lost: Vec<(u64, usize)> = games
        .iter()
        .filter_map(|game| {
            let seat = game["agents"].as_array().expect("two").iter().position(|agent| agent == 1).expect("random");
            let result = game["result"].as_i64().expect("a result") * if seat == 0 { 1 } else { -1 };
            (result < 0).then_some((game["number"].as_u64().expect("a number"), seat + 1))
        })
        .collect();
    assert!(lost.len() > 1, "{games:?}");
    let agent = ["--exact", "--agent", "alphabeta:depth=2"];
    let text = stdout(&[&["review", &journal, "--lost-by", "random"][..], &agent].concat());
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(&format!("{} lost games; to review another: ", lost.len())), "{text}");
    for (line, (number, seat)) in lines[1..].iter().zip(&lost) {
        assert!(
            line.starts_with(&format!("game {number}, as player {seat}, ")) && line.ends_with("by the rules"),
            "{text}"
        );
    }
    let head = format!("\nreview of game {}\n", lost[0].0);
    assert!(
        text.contains(&head) && text.contains("mu_torere: ") && text.contains(&format!("--number {}", lost[0].0)),
        "{text}"
    );
    assert_eq!(stdout(&[&["review", &journal, "--lost"][..], &agent].concat()).trim_end(), "it has lost no game");
    for (args, expected) in [
        (&["review", &journal, "--lost-by", "mcts"][..], "in the match are: exact, random"),
        (&["review", &journal, "--lost", "--number", "3"], "cannot be used with"),
    ] {
        assert!(fault(args).contains(expected), "{args:?}: {}", fault(args));
    }
}

/// Player 1 has lost Konane 4x4 from the start, whatever it does.
#[test]
fn a_game_that_was_lost_before_the_first_own_move_is_said_to_be() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("cup").display().to_string();
    let players = ["arena", "konane", "--param", "size=4", "random", "exact", "--games", "10", "--openings", "2"];
    stdout(&[&players[..], &["--out", &out]].concat());
    let journal = format!("{out}/games.jsonl");
    let text = stdout(&["review", &journal, "--lost", "--exact", "--agent", "alphabeta:depth=2"]);
    assert!(text.contains("\nreview of game 0: lost before its first own move\n"), "{text}");
    let (list, _) = text.split_once("\n\n").expect("the list ends with an empty line");
    assert!(list.contains("\ngame 0, as player 1, "), "{list}");
}

#[test]
fn games_of_matches_and_lists_of_moves_are_reviewed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (cup, moves) = (path("cup"), path("moves.txt"));
    stdout(&["arena", "mancala", "random", "alphabeta:depth=1", "--games", "2", "--openings", "4", "--out", &cup]);
    let journal = format!("{cup}/games.jsonl");
    let quick = ["--agent", "alphabeta:depth=2"];
    let review = json(&[&[&journal[..], "--number", "1"][..], &quick].concat());
    assert_eq!(review["players"], serde_json::json!(["alphabeta:depth=1", "random"]));
    let opening = |played: &&Value| played["opening"] == true;
    let played = review["moves"].as_array().expect("moves");
    assert_eq!(played.iter().filter(opening).count(), 4);
    assert!(played.iter().filter(opening).all(|played| played["mark"].is_null()));
    let texts: Vec<&str> = played.iter().filter_map(|played| played["move"].as_str()).collect();
    fs::write(&moves, texts.join(" ")).expect("writable");
    let again = json(&[&[&moves[..], "mancala"][..], &quick].concat());
    for (one, other) in played.iter().zip(again["moves"].as_array().expect("moves")) {
        assert_eq!((&one["loss"], &one["value"]), (&other["loss"], &other["value"]));
    }
    for (args, expected) in [
        (&["review", &moves[..]][..], "moves.txt: it has moves only: name the game"),
        (&["review", &moves, "konane"], "moves.txt: move 1: "),
        (&["review", &journal], "games.jsonl: it has 2 games, 0 to 1: choose one with --number"),
        (&["review", &journal, "--number", "0", "--agent", "random"], "agent `random` gives no evaluation"),
        (&["review", &journal, "--number", "0", "--exact", "--tables", "none"], "turnstone solve mancala"),
        (&["review", &journal, "--number", "0", "--nodes", "5"], "--exact"),
        (&["review", &cup], "not a regular file"),
    ] {
        assert!(fault(args).contains(expected), "{args:?}: {}", fault(args));
    }
}

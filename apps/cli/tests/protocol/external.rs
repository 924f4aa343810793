//! Other programs as players: they play as by themselves, and their faults count as the player's.

use std::time::Instant;

use serde_json::Value;

use super::talk::PATIENCE;
use crate::calls::turnstone;

#[test]
fn another_engine_plays_as_the_agent_itself_would() {
    let own = "alphabeta:depth=3";
    let engine = format!("engine:depth=3:'{}' engine --agent {own}", env!("CARGO_BIN_EXE_turnstone"));
    let moves = |agent: &str| {
        let output = turnstone(&["play", "mancala", "--param", "stones=3", "--p1", agent, "--p2", own, "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let game: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        game["moves"].clone()
    };
    assert_eq!(moves(&engine), moves(own));
    let output = turnstone(&["arena", "mancala", &engine, "random", "--games", "4", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A program that answers twice, pauses between words with a tab and names a move to ponder on plays its own moves.
#[test]
fn answers_of_other_conventions_are_understood() {
    let own = "alphabeta:depth=2";
    let engine = format!("'{}' engine --agent {own}", env!("CARGO_BIN_EXE_turnstone"));
    let moves = |agent: &str| {
        let output = turnstone(&["play", "mancala", "--p1", agent, "--p2", own, "--json"]);
        assert!(output.status.success(), "{agent}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")["moves"].clone()
    };
    for edit in ["/^bestmove/p", "s/^bestmove /bestmove\\t/", "s/^bestmove.*/& ponder A3/", "1s/^/\\xef\\xbb\\xbf/"] {
        assert_eq!(moves(&format!("engine:depth=2:sh -c \"{engine} | sed -u -e '{edit}'\"")), moves(own), "{edit}");
    }
    assert_eq!(moves(&format!("engine:{engine}")), moves(own));
}

#[test]
fn an_engine_that_fails_is_a_fault_and_never_a_hang() {
    let script = |go: &str| {
        format!(
            "engine:patience=1s:sh -c 'while read l; do case $l in ugi) echo ugiok;; isready) echo readyok;; go*) {go};; esac; done'"
        )
    };
    for (agent, fault) in [
        ("engine::/nowhere/engine".to_owned(), "cannot start `/nowhere/engine`"),
        ("engine:patience=200ms:sleep 60".to_owned(), "no `ugiok` within 0.2 s"),
        ("engine::true".to_owned(), "its output ended before `ugiok`"),
        (script("echo bestmove Z9"), "illegal move `Z9`"),
        (script("echo bestmove"), "illegal move ``"),
        (script("exit"), "its output ended before `bestmove`"),
        (script("exec sleep 60"), "no `bestmove` within 1 s"),
        (script("exec yes"), "no `bestmove` within 1 s"),
    ] {
        let start = Instant::now();
        let output = turnstone(&["play", "mancala", "--p1", &agent, "--p2", "random", "--json"]);
        let error = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(!output.status.success() && error.contains(fault), "{agent}: {error}");
        assert!(start.elapsed() < PATIENCE, "{agent}");
    }
}

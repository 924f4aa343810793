//! The hand-over between the engine's reader and its search: every `go` is answered, whatever is sent meanwhile.
//!
//! `ROUNDS` in the environment is the number of searches per agent.

use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use turnstone::engine::{Setup, serve};
use turnstone::output::Output;
use turnstone_env::Params;

/// A search of a millisecond takes longer only on a machine that does not get to it.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn every_go_is_answered() {
    let rounds = std::env::var("ROUNDS").map_or(1500, |rounds| rounds.parse().expect("ROUNDS is a number"));
    thread::scope(|scope| {
        for (game, agent) in [("konane", "minimax:depth=2"), ("morabaraba", "mcts:sims=8"), ("mu_torere", "random")] {
            scope.spawn(move || ask(game, agent, rounds));
        }
    });
}

fn ask(game: &str, agent: &str, rounds: usize) {
    let games = turnstone_games::list!(turnstone_selfplay::row);
    let game = games.make(game, &Params::new()).expect("valid defaults");
    let setup = Setup { game, games, agent: agent.parse().expect("a spec"), seed: 1, threads: None };
    let (commands, mut to) = std::io::pipe().expect("a pipe");
    let (from, answers) = std::io::pipe().expect("a pipe");
    let engine = thread::spawn(move || serve(setup, BufReader::new(commands), &Output::new(answers)));
    let (lines, received) = mpsc::channel();
    let reader = thread::spawn(move || {
        for line in BufReader::new(from).lines() {
            let _ = lines.send(line.expect("UTF-8"));
        }
    });
    for round in 0..rounds {
        // A `stop` may come before, during or after the search; `isready` may be answered at any time.
        let command = match round % 6 {
            0 => "go movetime 1\n",
            1 => "go nodes 1\nstop\n",
            2 => "stop\ngo depth 1\nisready\n",
            3 => "go infinite\nstop\n",
            4 => "isready\ngo movetime 1\nstop\nisready\n",
            _ => "uginewgame\ngo nodes 3\n",
        };
        to.write_all(command.as_bytes()).expect("the engine reads");
        loop {
            let line = received.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("{agent}: round {round}, `{command}`: no answer: {error}"));
            assert!(!line.starts_with("info string error"), "{agent}: round {round}, `{command}`: {line}");
            if line.starts_with("bestmove ") {
                break;
            }
        }
    }
    drop(to);
    engine.join().expect("no panic").expect("no error");
    reader.join().expect("no panic");
    assert!(!received.iter().any(|line| line.starts_with("bestmove ")), "{agent}: more answers than searches");
    println!("{agent}: {rounds} searches, each with one answer");
}

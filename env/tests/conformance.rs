//! Every game, with several parameter sets, against the conformance suite.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::toy::Toy;
use turnstone_env::{Params, Rules, conformance, for_each_game};

/// Games that are played with every parameter set.
const GAMES: usize = 500;

fn check(name: &str, params: &[(&str, &str)]) {
    check_games(name, params, GAMES);
}

fn check_games(name: &str, params: &[(&str, &str)], games: usize) {
    let mut given = Params::new();
    params.iter().for_each(|(key, value)| given.set(*key, value));
    let mut checked = 0;
    for_each_game!(G => if G::default().spec().name == name {
        conformance::check(&G::default().with_params(&given).expect("valid parameters"), games, 1);
        checked += 1;
    });
    assert_eq!(checked, 1, "{name}");
}

/// A game that is new in the list is checked without being named here.
#[test]
fn every_game_with_its_defaults() {
    for_each_game!(G => conformance::check(&G::default(), 200, 2));
}

#[test]
fn mu_torere() {
    check("mu_torere", &[]);
    check("mu_torere", &[("hub_needs_neighbour", "true"), ("max_plies", "7")]);
}

#[test]
fn mancala() {
    check("mancala", &[]);
    check("mancala", &[("empty_capture", "false"), ("first_player", "2")]);
    check("mancala", &[("end_rule", "either_side_empty"), ("stones", "6")]);
    check("mancala", &[("pits", "3"), ("stones", "42")]);
    check("mancala", &[("pits", "1"), ("stones", "1")]);
    check("mancala", &[("pits", "7"), ("stones", "18"), ("end_rule", "either_side_empty")]);
}

#[test]
fn konane() {
    check("konane", &[]);
    check("konane", &[("first_player", "O")]);
    for size in ["4", "6"] {
        check("konane", &[("size", size)]);
        check("konane", &[("size", size), ("first_player", "O")]);
    }
    for first_player in ["X", "O"] {
        check_games("konane", &[("size", "16"), ("first_player", first_player)], 10);
    }
}

#[test]
fn morris() {
    check_games("morris", &[], GAMES / 2);
    check_games("morris", &[("pieces", "3"), ("no_progress_limit", "7")], GAMES / 2);
    check_games("morris", &[("pieces", "5"), ("no_progress_limit", "0")], GAMES / 2);
    check_games("morris", &[("pieces", "9"), ("no_progress_limit", "30")], GAMES / 2);
}

#[test]
fn morabaraba() {
    check_games("morabaraba", &[], GAMES / 2);
    check_games("morabaraba", &[("cows", "3"), ("quiet_limit", "20"), ("fly_limit", "4")], GAMES / 2);
    check_games("morabaraba", &[("cows", "5"), ("quiet_limit", "0"), ("fly_limit", "0")], GAMES / 2);
    check_games("morabaraba", &[("cows", "8"), ("quiet_limit", "255"), ("fly_limit", "30")], GAMES / 2);
    check_games("morabaraba", &[("cows", "12"), ("quiet_limit", "15"), ("fly_limit", "255")], GAMES / 2);
}

#[test]
fn toy() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for _ in 0..20 {
        let toy = Toy::random(&mut rng, 6, 4, 9);
        // Its parameters do not describe a tree, so only the play-time checks apply.
        let tree: Toy = "1(2(+1 1(0 -3)) 2(-1 +4))".parse().expect("well-formed");
        conformance::check(&tree, 10, 1);
        conformance::check(&toy, 10, 1);
    }
}

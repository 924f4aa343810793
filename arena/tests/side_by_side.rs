//! Games played side by side are the games played one after the other.

use std::sync::atomic::{AtomicUsize, Ordering};

use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, PlayableGame};
use turnstone_arena::{Match, MatchOptions, MatchResult, OpeningSource, RatingScale, Running, TournamentFormat};
use turnstone_env::Params;
use turnstone_games::built_in;

fn agents(game: &dyn PlayableGame, specs: &[&str]) -> Vec<Agent> {
    specs.iter().map(|spec| Agent::load(&spec.parse().expect("a spec"), game).expect("it plays this game")).collect()
}

fn options(pairings: TournamentFormat, games: usize) -> MatchOptions {
    MatchOptions {
        games: Some(games),
        openings: Some(OpeningSource::Random([1, 4])),
        seed: Some(3),
        format: Some(pairings),
        ..MatchOptions::default()
    }
}

fn play(
    game: &dyn PlayableGame,
    agents: &[Agent],
    options: &MatchOptions,
    running: &Running<'_>,
) -> Option<MatchResult> {
    let drawn = Match::new(game, agents.iter().collect(), options, RatingScale::Mean, &Stop::default());
    drawn.expect("valid options").expect("nothing stops it").play(None, running).expect("they play")
}

fn played(
    game: &dyn PlayableGame,
    agents: &[Agent],
    options: &MatchOptions,
    threads: usize,
    at_once: usize,
) -> MatchResult {
    let (stop, count) = (Stop::default(), AtomicUsize::new(0));
    let progress = |_: &_| {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let running = Running { at_once, ..Running::new(threads, &progress, &stop) };
    let result = play(game, agents, options, &running).expect("nothing stops it");
    assert!(count.into_inner() >= result.record.games.len());
    result
}

#[test]
fn the_number_of_games_at_once_changes_no_game() {
    let game = built_in().make("mu_torere", &Params::new()).expect("a game");
    let specs =
        ["az:pretrained,sims=20", "az:pretrained,sims=8,method=puct", "mcts:sims=20", "alphabeta:nodes=200,hash=1"];
    let others = ["random", "exact", "az:pretrained,sims=0", "alphabeta:depth=2"];
    for (format, specs) in [
        (TournamentFormat::RoundRobin, &[&specs[..], &others].concat()[..]),
        (TournamentFormat::RoundRobin, &specs[..2]),
        (TournamentFormat::Gauntlet, &[&specs[..1], &others].concat()),
    ] {
        let agents = agents(&*game, specs);
        let options = options(format, 4);
        let one_by_one = played(&*game, &agents, &options, 1, 1);
        assert!(one_by_one.record.games.iter().any(|game| game.moves.len() > game.opening_plies + 2));
        for (threads, at_once) in [(1, 32), (1, 3), (3, 32), (2, 2)] {
            let result = played(&*game, &agents, &options, threads, at_once);
            assert!(result == one_by_one, "{format:?}, {threads} threads, {at_once} games at once");
        }
    }
}

#[test]
fn a_stop_gives_up_and_enough_finishes_what_was_begun() {
    let game = built_in().make("mu_torere", &Params::new()).expect("a game");
    let agents = agents(&*game, &["az:pretrained,sims=20", "random"]);
    let options = options(TournamentFormat::RoundRobin, 40);
    let (stop, count) = (Stop::default(), AtomicUsize::new(0));
    let stop_at_once = |_: &_| {
        count.fetch_add(1, Ordering::Relaxed);
        stop.raise();
    };
    let running = Running { at_once: 8, ..Running::new(1, &stop_at_once, &stop) };
    let result = play(&*game, &agents, &options, &running);
    assert!(result.is_none() && count.load(Ordering::Relaxed) < 8);
    let (go_on, enough, count) = (Stop::default(), Stop::default(), AtomicUsize::new(0));
    let enough_at_once = |_: &_| {
        count.fetch_add(1, Ordering::Relaxed);
        enough.raise();
    };
    let running = Running { at_once: 8, enough: Some(&enough), ..Running::new(1, &enough_at_once, &go_on) };
    assert!(play(&*game, &agents, &options, &running).is_none());
    assert!((8..16).contains(&count.load(Ordering::Relaxed)), "{count:?}");
}

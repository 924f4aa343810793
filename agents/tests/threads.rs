//! Searches by several threads: the same results where they are exact, the same limits everywhere.

use std::time::{Duration, Instant};

use rand::RngExt;
use turnstone_agents::{Agent, PlayableGame, Search, SearchInfo, SearchRequest};
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{ActionList, AnyState, Params};
use turnstone_games::built_in;
use turnstone_search::Stop;
use turnstone_search::classic::Limits;

fn agent(game: &dyn PlayableGame, spec: &str) -> Agent {
    Agent::load(&spec.parse().expect("a spec"), game).expect("it plays this game")
}

fn search(game: &dyn PlayableGame, spec: &str) -> Box<dyn Search> {
    agent(game, spec).search(game, 1).expect("a search")
}

fn rng() -> Stream {
    stream(1, Purpose::Play, [0, 0])
}

/// Result of a search of a position, with these limits and stop flag.
fn found(search: &mut dyn Search, state: &AnyState, limits: Option<Limits>, stop: &Stop) -> SearchInfo {
    search.new_game(0, state, rng());
    let request = SearchRequest { limits, reports: true, ..SearchRequest::stopped_by(stop) };
    let mut last = None;
    let action = search.choose_within(0, state, request, &mut |info| last = Some(info.clone())).expect("a move");
    let last = last.expect("a report");
    assert_eq!((last.line[0], search.report(0)), (action, last.clone()));
    last
}

/// Positions of random games.
fn positions(game: &dyn PlayableGame, count: usize) -> Vec<AnyState> {
    let (mut rng, mut positions) = (rng(), Vec::new());
    while positions.len() < count {
        let mut state = game.start();
        for _ in 0..rng.random_range(2..12) {
            let mut legal = ActionList::new();
            game.legal(&state, &mut legal);
            if !legal.is_empty() {
                game.play(&mut state, legal[rng.random_range(0..legal.len())]);
            }
        }
        if game.outcome(&state).is_none() {
            positions.push(state);
        }
    }
    positions
}

#[test]
fn alpha_beta_finds_the_same_with_any_number_of_threads() {
    for (name, depth) in [("mancala", 7), ("konane", 4), ("morris", 4), ("mu_torere", 8)] {
        let game = built_in().make(name, &Params::new()).expect("a game");
        for limits in ["", "nodes=100000000,"] {
            let mut one = search(&*game, &format!("alphabeta:{limits}depth={depth},hash=1"));
            let mut three = search(&*game, &format!("alphabeta:{limits}depth={depth},hash=1,threads=3"));
            for state in positions(&*game, 8) {
                let (one, three) =
                    [&mut one, &mut three].map(|p| found(&mut **p, &state, None, &Stop::default())).into();
                assert_eq!((one.line[0], one.score, one.depth), (three.line[0], three.score, three.depth), "{name}");
            }
        }
    }
}

/// Asserts that a tree search made exactly so many simulations, or fewer if it has proven the result.
fn assert_made(info: &SearchInfo, simulations: u64, at: &str) {
    let is_certain = info.score.is_some_and(|score| score.win_draw_loss.contains(&1.0));
    let made = info.nodes == simulations || info.nodes < simulations && is_certain;
    assert!(made, "{} simulations instead of {simulations}: {at}, {info:?}", info.nodes);
}

#[test]
fn a_tree_search_makes_exactly_its_simulations() {
    for (name, spec, simulations) in [
        ("mancala", "az:pretrained,sims=500,threads=3", 500),
        ("mancala", "az:pretrained,sims=500,threads=3,method=puct,precision=i8", 500),
        ("konane", "az:pretrained,sims=100,threads=2,proof_nodes=20", 100),
        ("mu_torere", "mcts:sims=300,threads=4", 300),
    ] {
        let game = built_in().make(name, &Params::new()).expect("a game");
        let mut player = search(&*game, spec);
        for state in positions(&*game, 5) {
            assert_made(&found(&mut *player, &state, None, &Stop::default()), simulations, spec);
            assert_made(&found(&mut *player, &state, Some(Limits::nodes(77)), &Stop::default()), 77, spec);
        }
    }
}

#[test]
fn many_short_searches_make_exactly_their_simulations() {
    const GAMES: [&str; 5] = ["mancala", "konane", "morris", "morabaraba", "mu_torere"];
    for threads in [2, 3, 8] {
        let mut complete = 0;
        for name in GAMES {
            let game = built_in().make(name, &Params::new()).expect("a game");
            for (spec, searches) in
                [("mcts:", 30), ("az:pretrained,method=puct,", 15), ("az:pretrained,method=gumbel,", 15)]
            {
                let spec = format!("{spec}threads={threads}");
                let mut player = search(&*game, &spec);
                for (state, simulations) in positions(&*game, searches).iter().zip(11..) {
                    let info = found(&mut *player, state, Some(Limits::nodes(simulations)), &Stop::default());
                    assert_made(&info, simulations, &format!("{name}, {spec}"));
                    complete += u32::from(info.nodes == simulations);
                }
            }
        }
        assert!(complete > 250, "{complete} of 300 searches by {threads} threads were not ended by a proof");
    }
}

#[test]
fn threads_end_when_they_are_stopped_or_the_time_is_up() {
    let game = built_in().make("morris", &Params::new()).expect("a game");
    for spec in ["az:pretrained,threads=2", "mcts:sims=100,threads=3", "alphabeta:time=1m,threads=3"] {
        let mut player = search(&*game, spec);
        let stop = Stop::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                stop.raise();
            });
            // More than it can do in seconds.
            let nodes = if spec.starts_with("alphabeta") { 1 << 40 } else { 1 << 20 };
            let info = found(&mut *player, &game.start(), Some(Limits::nodes(nodes)), &stop);
            assert!(info.nodes > 0 && info.nodes < nodes && !info.line.is_empty(), "{spec}: {}", info.nodes);
        });
        let (start, time) = (Instant::now(), Duration::from_millis(30));
        found(&mut *player, &game.start(), Some(Limits::time(time)), &Stop::default());
        assert!(start.elapsed() >= time, "{spec}");
        // Stopped before it begins, it still has an answer.
        assert!(!found(&mut *player, &game.start(), Some(Limits::default()), &stop).line.is_empty());
    }
}

#[test]
fn the_number_of_threads_can_be_changed_between_searches() {
    let game = built_in().make("mancala", &Params::new()).expect("a game");
    for spec in ["az:pretrained,sims=60", "mcts:sims=60", "alphabeta:depth=6,hash=1"] {
        let mut player = search(&*game, spec);
        let alone = found(&mut *player, &game.start(), None, &Stop::default());
        for threads in [4, 2, 1] {
            player.set_threads(threads);
            let again = found(&mut *player, &game.start(), None, &Stop::default());
            assert!(again.nodes >= alone.nodes.min(60), "{spec}");
            assert!(threads > 1 || again == alone, "{spec}: one thread repeats its search");
        }
    }
}

#[test]
fn the_spec_names_the_threads_and_what_goes_with_them() {
    let fault = |spec: &str| spec.parse::<turnstone_agents::AgentSpec>().expect_err("a fault").to_string();
    assert_eq!(
        fault("alphabeta:depth=4,threads=2"),
        "agent `alphabeta:depth=4,threads=2`: threads share what they find in a table: give its size in MiB, hash=64"
    );
    let [most, cores] = [turnstone_agents::most_threads(), turnstone_base::machine::cores()];
    // A small multiple: with many more, the clock is looked at too late.
    assert!(most >= 8 && most >= cores && most <= 8 * cores.max(1));
    let many = fault(&format!("mcts:threads={}", most + 1));
    let reason = format!("threads is {}, but must be at most {most}: this machine has {cores} cores", most + 1);
    assert!(many.ends_with(&reason), "{many}");
    assert!(fault("az:a,threads=2,device=gpu").ends_with("a search on a GPU has one thread"));
    assert!(fault("minimax:threads=2").contains("unknown key `threads`"));
    let game = built_in().make("mancala", &Params::new()).expect("a game");
    let of = |spec: &str| agent(&*game, spec);
    assert!(of("az:pretrained,threads=1").spec.threads().number() == Some(1));
    assert!(of("az:pretrained,threads=0").spec.threads().number() == Some(turnstone_base::machine::cores()));
    // A search that does not repeat plays its games one by one.
    let seats = |spec: &str| of(spec).search(&*game, 4).expect("a search").most_seats();
    assert_eq!(seats("az:pretrained,threads=2"), 1);
    assert!(seats("az:pretrained,threads=1") > 1);
}

//! Certified agents beside a brute-force search, and interrupted walks.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstone_agents::Effort;
use turnstone_env::Params;
use turnstone_games::built_in;

use super::*;

fn game(name: &str, params: &[(&str, &str)]) -> std::sync::Arc<dyn PlayableGame> {
    let params = params.iter().fold(Params::new(), |all, &(key, value)| all.with(key, value));
    built_in().make(name, &params).expect("a game")
}

fn agent(spec: &str, game: &dyn PlayableGame) -> Agent {
    Agent::load(&spec.parse().expect("a spec"), game).expect("it plays this game")
}

static NEVER: LazyLock<Stop> = LazyLock::new(Stop::default);

fn certifying<'a>(game: &'a dyn PlayableGame, agent: &'a Agent) -> Certifying<'a> {
    let (progress, program): (_, &str) = (&|_: &dyn DynWalk| (), "turnstone");
    Certifying { game, asked: game, agent, seed: 7, threads: 2, most: 1_000_000, program, progress, stop: &NEVER }
}

fn walked(certifying: &Certifying<'_>, seat: Side) -> Box<dyn DynWalk> {
    let (walk, extent) =
        certifying.walk(seat, &[certifying.game.start()], None).expect("it plays").expect("nothing stops it");
    assert_eq!(extent, Extent::Complete);
    walk
}

/// The agent's worst result from a position, by asking it in one position after the other.
fn brute_force(
    certifying: &Certifying<'_>,
    search: &mut dyn Search,
    seat: Side,
    state: &AnyState,
    known: &mut HashMap<AnyState, i8>,
) -> i8 {
    let game = certifying.game;
    if let Some(outcome) = game.outcome(state) {
        return outcome.value_for(seat);
    }
    if let Some(&value) = known.get(state) {
        return value;
    }
    let played: Vec<Action> = if game.mover(state) == seat {
        let (state, rng) = certifying.question(state).expect("a position");
        search.new_game(0, &state, rng);
        vec![search.choose(0, &state).expect("a move")]
    } else {
        game.legal_actions(state).to_vec()
    };
    let after = |action: Action| {
        let mut next = state.clone();
        game.play(&mut next, action);
        next
    };
    let nexts: Vec<AnyState> = played.into_iter().map(after).collect();
    let worst = nexts.iter().map(|next| brute_force(certifying, search, seat, next, known)).min().expect("a move");
    known.insert(state.clone(), worst);
    worst
}

#[test]
fn the_worst_result_is_that_of_a_brute_force_search() {
    let mut seen = [0; 3];
    for (name, params) in [
        ("mancala", &[("pits", "3"), ("stones", "2")][..]),
        ("konane", &[("size", "4")]),
        ("mu_torere", &[("max_plies", "30")]),
    ] {
        let game = game(name, params);
        for spec in ["random", "alphabeta:depth=2"] {
            let agent = agent(spec, &*game);
            for (seat, seed) in Side::BOTH.into_iter().flat_map(|seat| [1, 2, 3].map(|seed| (seat, seed))) {
                let certifying = Certifying { seed, ..certifying(&*game, &agent) };
                let findings = walked(&certifying, seat).findings();
                let mut search = agent.search(&*game, 1).expect("a search");
                let worst = brute_force(&certifying, &mut *search, seat, &game.start(), &mut HashMap::new());
                assert_eq!(findings.values, [worst], "{spec} as {seat} of {name}");
                assert_eq!((findings.beaten > 0, findings.refutations[0].is_some()), (worst == -1, worst == -1));
                seen[(worst + 1) as usize] += 1;
                if let Some(found) = &findings.refutations[0] {
                    let record = certifying.record(seat, &game.start(), &found.line);
                    assert_eq!(record.outcome.as_deref(), Some(["player1", "player2"][seat.other().index()]));
                }
            }
        }
    }
    assert!(seen[0] > 5 && seen[1] + seen[2] > 0, "{seen:?}");
}

#[test]
fn threads_and_interruptions_change_nothing() {
    let (game, folder) = (game("mu_torere", &[]), tempfile::tempdir().expect("a folder"));
    let agent = agent("az:pretrained,sims=4", &*game);
    let whole = certifying(&*game, &agent);
    let expected = walked(&Certifying { threads: 1, ..whole }, Side::First);
    let certificate = whole.certificate(Side::First, &*expected, &expected.findings()).expect("it is not beaten");
    assert!(certificate.claim.decisions > 1000 && certificate.claim.network.is_some());
    game.check_certificate(&certificate).expect("it is true");
    let starts = [game.start()];
    let journal = || WalkJournal::open(folder.path(), "walk", whole.identity(Side::First, &starts)).expect("usable");
    let mut rounds = 0;
    let walk = loop {
        // The flag is raised in the ninth lot of questions of each call.
        let (stop, calls) = (Stop::default(), AtomicU64::new(0));
        let progress = |_: &dyn DynWalk| {
            if calls.fetch_add(1, Ordering::Relaxed) == 8 {
                stop.raise();
            }
        };
        let certifying = Certifying { progress: &progress, stop: &stop, threads: 3, ..whole };
        rounds += 1;
        if let Some((walk, _)) = certifying.walk(Side::First, &starts, Some(journal())).expect("it plays") {
            break walk;
        }
    };
    assert!(rounds > 3, "{rounds}");
    assert_eq!(walk.moves(), expected.moves());
    // All moves that fill bytes are in the journal now.
    assert_eq!(journal().take_moves(), expected.moves().whole_bytes());
}

#[test]
fn games_without_limits_are_walked_with_positions_that_have_just_come_up() {
    let (game, asked) = (game("mu_torere", &[("max_plies", "0")]), game("mu_torere", &[]));
    let agent = agent("az:pretrained,sims=0", &*asked);
    let certifying = Certifying { asked: &*asked, ..certifying(&*game, &agent) };
    let walk = walked(&certifying, Side::First);
    let findings = walk.findings();
    assert_eq!(findings.values, [0]);
    let certificate = certifying.certificate(Side::First, &*walk, &findings).expect("it is not beaten");
    assert_eq!(certificate.claim.asked, Some(asked.params()));
    game.check_certificate(&certificate).expect("it is true");
    asked.check_certificate(&certificate).expect_err("it is of the game without limits");
}

#[test]
fn every_game_with_limits_takes_positions_that_have_just_come_up() {
    for (name, limits) in
        [("morris", &[("no_progress_limit", "0")][..]), ("morabaraba", &[("quiet_limit", "0"), ("fly_limit", "0")])]
    {
        let (game, asked) = (game(name, limits), game(name, &[]));
        let agent = agent("random", &*asked);
        let certifying = Certifying { asked: &*asked, most: 3000, ..certifying(&*game, &agent) };
        let walked = certifying.walk(Side::First, &[game.start()], None);
        assert!(matches!(walked, Ok(Some((_, Extent::Full)))), "{name}: {:?}", walked.err());
    }
}

#[test]
fn agents_that_are_no_function_of_the_position_are_refused() {
    let game = game("mancala", &[]);
    for (spec, reason) in [
        ("az:pretrained,time=1s", "time"),
        ("alphabeta:time=1s", "time"),
        ("az:pretrained,sims=8,threads=2", "threads"),
        ("alphabeta:depth=3,hash=8,threads=2", "threads"),
        ("az:pretrained,sims=8,temperature=0.5", "temperature"),
        ("engine::cat", "does not choose"),
        ("human", "does not choose"),
    ] {
        let fault = check_fixed(&agent(spec, &*game)).expect_err("no function").to_string();
        assert!(fault.contains(reason) && fault.contains(spec), "{spec}: {fault}");
    }
    for spec in ["random", "mcts:sims=10", "minimax:depth=2", "az:pretrained,sims=8", "level:1"] {
        // A level may be an agent that draws moves.
        assert!(check_fixed(&agent(spec, &*game)).is_ok() || spec == "level:1", "{spec}");
    }
}

#[test]
fn an_interrupted_repair_has_the_same_corrections() {
    let (game, folder) = (game("mu_torere", &[("max_plies", "0")]), tempfile::tempdir().expect("a folder"));
    let agent = agent("random", &*game);
    let whole = certifying(&*game, &agent);
    let truth = game.exact_values(Path::new(""), Effort::Full).expect("no table").expect("it is small");
    let repair = |certifying: Certifying<'_>, journal| {
        let truth = Truth { full: &*truth, quick: &*truth };
        let repaired = certifying.repair(Side::First, &game.start(), journal, Some(truth), &|_, _| ());
        repaired.expect("it plays").map(|Repaired { corrections, walk, .. }| {
            let moves: HashMap<String, Action> =
                corrections.iter().map(|(state, action)| (game.position_text(state), *action)).collect();
            (moves, walk)
        })
    };
    let (expected, walk) = repair(Certifying { threads: 1, ..whole }, None).expect("nothing stops it");
    assert!(expected.len() > 5, "{}", expected.len());
    let starts = [game.start()];
    let journal = || WalkJournal::open(folder.path(), "walk", whole.identity(Side::First, &starts)).expect("usable");
    let mut rounds = 0;
    let (found, again) = loop {
        // The flag is raised after more lots of questions in each call, since small ones may fill no byte.
        let (stop, calls, last) = (Stop::default(), AtomicU64::new(0), 3 * rounds);
        let progress = |_: &dyn DynWalk| {
            if calls.fetch_add(1, Ordering::Relaxed) == last {
                stop.raise();
            }
        };
        rounds += 1;
        if let Some(found) = repair(Certifying { progress: &progress, stop: &stop, ..whole }, Some(journal())) {
            break found;
        }
    };
    assert!(rounds > 3, "{rounds}");
    assert_eq!((found, again.moves()), (expected, walk.moves()));
}

/// Exact values of no position.
struct Unknown;

impl DynExactValues for Unknown {
    fn value(&self, _: &AnyState) -> Option<i8> {
        None
    }

    fn best_actions(&self, _: &AnyState) -> Option<Vec<Action>> {
        None
    }

    fn optimal_actions(&self, _: &AnyState) -> Option<Vec<Action>> {
        None
    }
}

/// A random agent with corrections comes to the value of the game, as a brute-force search confirms.
#[test]
fn repaired_agents_come_to_the_value_of_the_game() {
    let cases = [
        ("mu_torere", &[("max_plies", "0")][..], Side::First, 0),
        ("mu_torere", &[("max_plies", "0")], Side::Second, 0),
        ("mu_torere", &[("max_plies", "40")], Side::Second, 0),
        ("konane", &[("size", "4")], Side::Second, 1),
    ];
    for (case, [knows_all, is_quick]) in
        cases.iter().flat_map(|case| [[true, true], [true, false], [false, false]].map(|known| (case, known)))
    {
        let &(name, params, seat, value) = case;
        let game = game(name, params);
        let agent = agent("random", &*game);
        let certifying = certifying(&*game, &agent);
        let truth = game.exact_values(Path::new(""), Effort::Full).expect("no table").expect("it is small");
        assert_eq!(walked(&certifying, seat).findings().values, [-1]);
        let rounds = AtomicU64::new(0);
        let count = |_: &dyn DynWalk, _| {
            rounds.fetch_add(1, Ordering::Relaxed);
        };
        let values = Truth { full: &*truth, quick: if is_quick { &*truth } else { &Unknown } };
        let repaired = certifying.repair(seat, &game.start(), None, knows_all.then_some(values), &count);
        let Repaired { corrections, walk, extent } = repaired.expect("it plays").expect("nothing stops it");
        assert_eq!((extent, walk.findings().values), (Extent::Complete, vec![value]), "{name}");
        assert!(!corrections.is_empty(), "{name}");
        // What is known at once is replaced in the only walk.
        assert_eq!(rounds.load(Ordering::Relaxed) > 1, !is_quick, "{name}");
        // Every correction is needed, and is no move of the agent's own.
        let mut search = agent.search(&*game, 1).expect("a search");
        for (state, action) in &corrections {
            assert!(walk.has_met(state) && game.mover(state) == seat);
            let (state, rng) = certifying.question(state).expect("a position");
            search.new_game(0, &state, rng);
            assert_ne!(search.choose(0, &state), Ok(*action), "{name}");
        }
    }
    let (game, lost) = (game("konane", &[("size", "4")]), Side::First);
    let agent = agent("random", &*game);
    let truth = game.exact_values(Path::new(""), Effort::Full).expect("no table").expect("it is small");
    for truth in [Some(Truth { full: &*truth, quick: &*truth }), None] {
        let fault = certifying(&*game, &agent).repair(lost, &game.start(), None, truth, &|_, _| ());
        assert!(fault.err().expect("it is lost").to_string().contains("player 1 of konane loses against best play"));
    }
}

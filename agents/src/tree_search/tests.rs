//! Seats side by side, exact values, stops, and evaluations that fail.

use turnstone_base::streams::{Purpose, stream};
use turnstone_env::Notation;
use turnstone_env::games::{Mancala, mancala};
use turnstone_env::toy::Toy;
use turnstone_search::Stop;
use turnstone_search::Uniform;

use super::*;
use crate::search_settings::SearchKind;
use crate::toy_values::Values;

/// Equal priors and even positions; one call fails, by its number from 0.
struct FailsOnce {
    calls_before: usize,
}

fn fault() -> Fault {
    Fault::new("device lost")
}

impl<G: Rules> Backend<G> for FailsOnce {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        let fails = self.calls_before == 0;
        self.calls_before = self.calls_before.wrapping_sub(1);
        if fails { Err(fault()) } else { Uniform.evaluate(game, batch) }
    }

    fn for_thread(&self, _: usize) -> Option<AnyBackend<G>> {
        Some(Box::new(FailsOnce { calls_before: usize::MAX }))
    }
}

fn plan(simulations: u32, kind: SearchKind) -> Plan {
    let budget = Budget::Simulations(simulations);
    Plan { budget, settings: SearchSettings::from(kind), draw: 0.0, temperature: 0.0, source: Source::Network }
}

fn search(calls_before: usize, simulations: u32, kind: SearchKind) -> TreeSearch<Mancala> {
    TreeSearch::new(&Mancala::default(), Box::new(FailsOnce { calls_before }), plan(simulations, kind), 0)
}

fn start() -> AnyState {
    AnyState::new(Mancala::default().start())
}

fn begin(search: &mut dyn Search, seat: usize, request: SearchRequest) {
    search.new_game(seat, &start(), stream(1, Purpose::Play, [seat as u64, 0]));
    search.begin(seat, &start(), request);
}

fn limited(nodes: u64) -> SearchRequest {
    SearchRequest { limits: Some(Limits::nodes(nodes)), ..SearchRequest::default() }
}

/// Advances until this number of seats have chosen. Returns their analyses by seat, and the number of faults.
fn finish(search: &mut dyn Search, seats: usize) -> (Vec<(usize, Analysis)>, usize) {
    let (mut found, mut faults) = (Vec::new(), 0);
    while found.len() < seats {
        match search.advance(&mut |_, _| ()) {
            Err(error) => {
                assert_eq!(error, fault());
                faults += 1;
            }
            Ok(chosen) => {
                for (seat, action) in chosen {
                    let analysis = search.analysis(seat).expect("a tree");
                    assert_eq!(action, Ok(analysis.actions[0].root.action));
                    found.push((seat, analysis));
                }
            }
        }
    }
    found.sort_by_key(|(seat, _)| *seat);
    (found, faults)
}

#[test]
fn a_batch_that_failed_is_evaluated_again() {
    let found = |calls_before| {
        let mut search = search(calls_before, 20, SearchKind::Puct);
        (0..3).for_each(|seat| begin(&mut search, seat, limited(10 + seat as u64)));
        finish(&mut search, 3)
    };
    let (whole, faults) = found(usize::MAX);
    assert_eq!((whole.len(), faults), (3, 0));
    assert_eq!([10, 11, 12], [0, 1, 2].map(|seat| whole[seat].1.visits));
    for calls_before in [0, 7] {
        assert_eq!(found(calls_before), (whole.clone(), 1));
    }
}

#[test]
fn searches_that_were_cleared_after_a_failure_begin_afresh() {
    for request in [SearchRequest::default(), limited(30)] {
        let chosen = |calls_before: usize| {
            let mut search: Box<dyn Search> = Box::new(search(calls_before, 30, SearchKind::Gumbel));
            let mut choose = || {
                search.new_game(0, &start(), stream(5, Purpose::Play, [0, 0]));
                search.choose_within(0, &start(), request.clone(), &mut |_| ())
            };
            let first = choose();
            (first.clone(), if first.is_err() { choose() } else { first })
        };
        let (expected, _) = chosen(usize::MAX);
        assert!(expected.is_ok());
        assert_eq!(chosen(9), (Err(fault().into()), expected));
    }
}

#[test]
fn a_prediction_that_fails_is_an_error() {
    let mut search = search(0, 1, SearchKind::Puct);
    assert_eq!(search.predict(&start()), Err(fault()));
    let found = search.predict(&start()).expect("it fails once").expect("a backend");
    assert_eq!((found.priors.len(), found.evaluation.win_draw_loss(Side::First)), (6, [0.5, 0.0, 0.5]));
}

#[test]
fn a_stopped_search_shows_what_it_has_found() {
    let (mut search, stop) = (search(usize::MAX, 100, SearchKind::Puct), Stop::default());
    begin(&mut search, 1, SearchRequest::stopped_by(&stop));
    for _ in 0..20 {
        assert_eq!(search.advance(&mut |_, _| ()), Ok(Vec::new()));
    }
    let before = search.analysis(1).expect("a tree");
    assert!(before.visits > 10 && !before.stopped);
    stop.raise();
    let (found, _) = finish(&mut search, 1);
    assert_eq!(found, [(1, Analysis { stopped: true, ..before })]);
    // One that is stopped before it begins has evaluated its root.
    begin(&mut search, 1, SearchRequest::stopped_by(&stop));
    let (found, _) = finish(&mut search, 1);
    assert_eq!((found[0].1.visits, found[0].1.actions.len()), (0, 6));
}

/// Plays by the priors, with all seats in one batch.
#[test]
fn positions_without_search_are_one_batch() {
    struct Counted(usize);
    impl Backend<Mancala> for Counted {
        fn evaluate(&mut self, game: &Mancala, batch: &mut EvalBatch<mancala::State>) -> Result<(), Fault> {
            assert_eq!(batch.len(), self.0);
            Uniform.evaluate(game, batch)
        }
    }
    let mut search = TreeSearch::new(&Mancala::default(), Box::new(Counted(4)), plan(0, SearchKind::Puct), 0);
    let game = Mancala::default();
    let after = |action: u16| {
        let mut state = game.start();
        game.play(&mut state, Action(action));
        state
    };
    for (seat, action) in (0..4).enumerate() {
        search.new_game(seat, &AnyState::new(after(action)), stream(1, Purpose::Play, [seat as u64, 0]));
        search.begin(seat, &AnyState::new(after(action)), SearchRequest::default());
    }
    let chosen = search.advance(&mut |_, _| ()).expect("it never fails");
    let mut legal = turnstone_env::ActionList::new();
    let first = [0, 1, 2, 3].map(|action| {
        game.legal(&after(action), &mut legal);
        legal[0] // all are equal
    });
    assert_eq!(chosen, [0, 1, 2, 3].map(|seat| (seat, Ok(first[seat]))));
    assert_eq!((search.analysis(0), search.report(0).line), (None, vec![first[0]]));
}

/// A subtree with a value that few simulations do not prove: player 1 moves to one of eight leaves, all `rest` but the last.
fn deep(rest: i16, last: i16) -> String {
    let pair = format!("1({rest} {rest})");
    format!("1(1({pair} {pair}) 1({pair} 1({rest} {last})))")
}

/// A search of a toy game with exact values where they are covered.
fn search_with(game: &Toy, covers: fn(&Toy, turnstone_env::toy::State) -> bool) -> TreeSearch<Toy> {
    let (backend, tables) = (Box::new(FailsOnce { calls_before: usize::MAX }), Values { covers, margins: false });
    TreeSearch::with_tables(game, backend, Box::new(tables), plan(8, SearchKind::Puct), 0)
}

#[test]
fn exact_values_at_the_leaves_prove_the_root() {
    let (open, lost) = (deep(-1, 1), deep(-1, -1));
    let game: Toy = format!("2(2({open} {lost}) 2({open} {open}))").parse().expect("a tree");
    let start = game.start();
    for (covers, threads, proven) in [
        ((|_, _| false) as fn(&Toy, turnstone_env::toy::State) -> bool, 1, None),
        (|game, state| game.mover(&state) == Side::First, 1, Some(-1)),
        (|game, state| game.mover(&state) == Side::First, 3, Some(-1)),
    ] {
        let mut search = search_with(&game, covers);
        search.set_threads(threads);
        search.new_game(0, &AnyState::new(start), stream(3, Purpose::Play, [0, 0]));
        assert_eq!(search.table_move(0, &start), None, "the start is not covered");
        search.begin(0, &AnyState::new(start), SearchRequest::default());
        assert_eq!(finish(&mut search, 1).0[0].1.proven, proven, "{threads}");
    }
}

#[test]
fn covered_positions_are_played_by_the_values_unless_lost() {
    let lost = deep(-1, -1);
    let game: Toy = format!("1(1(-1 +1) 1({lost} {lost}))").parse().expect("a tree");
    let mut search = search_with(&game, |_, _| true);
    let [won, lost] = ["1", "4"].map(|node| AnyState::new(game.parse_position(node).expect("a node")));
    for (seat, state) in [&won, &lost].into_iter().enumerate() {
        search.new_game(seat, state, stream(4, Purpose::Play, [seat as u64, 0]));
        search.begin(seat, state, SearchRequest::default());
    }
    let chosen = search.advance(&mut |_, _| ()).expect("it never fails");
    assert_eq!((chosen, search.comment(0).as_deref()), (vec![(0, Ok(Action(1)))], Some("by the tables")));
    let (found, _) = finish(&mut search, 1);
    assert_eq!((found[0].0, found[0].1.proven), (1, None), "the search of a lost position does without tables");
}

#[test]
fn threads_keep_to_a_limit_of_more_simulations_than_a_round_has() {
    let nodes = u64::from(LARGEST_ROUND) + 20_000;
    let mut search = search(usize::MAX, 1, SearchKind::Puct);
    search.set_threads(3);
    begin(&mut search, 0, limited(nodes));
    let (found, _) = finish(&mut search, 1);
    assert_eq!((search.report(0).nodes, found[0].1.visits), (nodes, nodes));
}

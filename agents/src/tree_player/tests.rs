//! Tree search with exact values, and after an evaluation that failed.

use super::*;
use crate::evaluator::FailsOnce;
use crate::search_settings::SearchKind;
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::games::Mancala;
use turnstone_exact::{Silent, SolveLimits};
use turnstone_games::mancala::{MancalaEndgames, MancalaSolver, MancalaValues};

#[test]
fn exact_values_at_the_leaves_prove_the_root() {
    let game = Mancala::default();
    let endgames = || MancalaEndgames::build(&game, 9, 1, &Silent);
    let truth = |limits| MancalaValues::new(MancalaSolver::new(&game, Some(endgames()), 1 << 12), limits);
    let whole = truth(SolveLimits::NONE);
    let mut rng = stream(3, Purpose::Play, [0, 0]);
    let mut proven = [0; 3];
    for text in [
        "1,0,2,0,1,2/16 0,3,0,2,1,1/19 1",
        "0,1,0,4,0,1/17 2,0,0,1,3,1/18 2",
        "2,0,1,1,0,1/21 1,1,2,0,0,3/15 1",
        "1,1,0,0,2,2/15 3,0,1,1,1,1/20 2",
    ] {
        let state = game.parse_position(text).expect("possible");
        let value = whole.value(&game, &state).expect("there is no limit");
        for ((with_tables, threads), proven) in [(false, 1), (true, 1), (true, 3)].into_iter().zip(&mut proven) {
            let (budget, settings) = (Budget::Simulations(60), SearchSettings::from(SearchKind::Puct));
            let player = TreePlayer::new(&game, FailsOnce::never(), budget, settings);
            let tables = with_tables.then(|| Box::new(truth(SolveLimits::nodes(0))) as Box<dyn ExactValues<Mancala>>);
            let mut player = player.with_tables(tables);
            player.set_threads(threads);
            player.new_game(&state);
            assert_eq!(player.table_move(&state, &mut rng), None, "the table is too small: {text}");
            let request = &mut SearchRequest::default();
            player.search(&state, request, &mut rng).expect("no failure");
            if let Some(found) = player.tree.search.proven() {
                assert_eq!(found, value, "{text}");
                *proven += 1;
            }
        }
    }
    assert!(proven[1] >= 3 && proven[0] < proven[1], "{proven:?} proven without and with tables");
    assert_eq!(proven[1], proven[2], "with one thread and with three");
}

#[test]
fn covered_positions_are_played_by_the_values_unless_lost() {
    let game = Mancala::default();
    let endgames = MancalaEndgames::build(&game, 8, 1, &Silent);
    let truth = MancalaValues::new(MancalaSolver::new(&game, Some(endgames), 1 << 12), SolveLimits::nodes(0));
    let settings = SearchSettings::from(SearchKind::Puct);
    let player = TreePlayer::new(&game, FailsOnce::never(), Budget::Simulations(8), settings);
    let mut player = player.with_tables(Some(Box::new(truth)));
    let mut rng = stream(4, Purpose::Play, [0, 0]);
    let won = game.parse_position("0,0,1,0,2,1/20 3,0,0,1,0,0/20 2").expect("possible");
    let lost = game.parse_position("0,0,1,0,2,1/30 3,0,0,1,0,0/10 2").expect("possible");
    assert!(player.table_move(&won, &mut rng).is_some());
    assert_eq!(player.table_move(&lost, &mut rng), None);
    let request = &mut SearchRequest::default();
    let action = player.search(&lost, request, &mut rng).expect("no failure");
    assert!(game.action_text(action).starts_with('A'));
    assert_eq!(player.tree.search.proven(), None, "the search of a lost position does without tables");
}

#[test]
fn threads_keep_to_a_limit_of_more_simulations_than_a_round_has() {
    let (game, nodes) = (Mancala::default(), u64::from(LARGEST_ROUND) + 20_000);
    let settings = SearchSettings::from(SearchKind::Puct);
    let mut player = TreePlayer::new(&game, FailsOnce::never(), Budget::Simulations(1), settings);
    player.set_threads(3);
    player.new_game(&game.start());
    let (mut reported, limits) = (0, Some(Limits::nodes(nodes)));
    let mut report = |info: &SearchInfo| reported = info.nodes;
    let request = &mut SearchRequest { limits, report: Some(&mut report), ..SearchRequest::default() };
    player.search(&game.start(), request, &mut stream(6, Purpose::Play, [0, 0])).expect("no failure");
    let visits: u32 = player.tree.search.actions().map(|action| action.visits).sum();
    assert_eq!((reported, u64::from(visits)), (nodes, nodes));
}

#[test]
fn a_player_searches_again_after_a_failure() {
    let game = Mancala::default();
    for limits in [None, Some(Limits::nodes(30))] {
        let chosen = |evaluator: FailsOnce| {
            let settings = SearchSettings::from(SearchKind::Gumbel);
            let mut player = TreePlayer::new(&game, evaluator, Budget::Simulations(30), settings);
            player.new_game(&game.start());
            let mut search = || {
                let mut rng = stream(5, Purpose::Play, [0, 0]);
                let request = &mut SearchRequest { limits, ..SearchRequest::default() };
                player.search(&game.start(), request, &mut rng)
            };
            let first = search();
            (first.clone(), if first.is_err() { search() } else { first })
        };
        let (expected, _) = chosen(FailsOnce::never());
        assert!(expected.is_ok());
        let failing = chosen(FailsOnce { calls_before: 9 });
        assert_eq!(failing, (Err(FailsOnce::fault()), expected));
    }
}

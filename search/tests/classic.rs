//! Minimax against plain recursion, alpha-beta against minimax, with double moves.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{AnyGame, NAMES};
use turnstone_env::toy::Toy;
use turnstone_env::{ActionList, Game, Params, Side, play_text, with_game};
use turnstone_search::classic::{AlphaBeta, Classical, Minimax, StoreDifference, ToyMargin};

#[test]
fn golden_tree_with_double_moves() {
    // Player 1 moves twice in a row on the left and could take 5; on the right player 2 answers twice.
    let toy: Toy = "1(1(+5 2(+1 +9)) 2(2(+8 -4) +7) 2(+4 +6))".parse().expect("well-formed");
    let found = AlphaBeta::new(&toy, &ToyMargin).search(&toy.start(), 9);
    assert_eq!((found.score, found.action), (5, Some(turnstone_env::Action(0))));
    assert_eq!(Minimax::new(&toy, &ToyMargin).search(&toy.start(), 9).score, 5);
}

#[test]
fn random_trees() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
    for _ in 0..3000 {
        let toy = Toy::random(&mut rng, 7, 4, 5);
        let minimax = Minimax::new(&toy, &ToyMargin).search(&toy.start(), 9);
        let alphabeta = AlphaBeta::new(&toy, &ToyMargin).search(&toy.start(), 9);
        assert_eq!(minimax.score, i32::from(toy.value(toy.start())), "{toy:?}");
        assert_eq!((alphabeta.score, alphabeta.action), (minimax.score, minimax.action), "{toy:?}");
        assert!(alphabeta.nodes <= minimax.nodes);
    }
}

/// Alpha-beta finds what minimax finds at random positions of every game with every heuristic.
fn agree<G: Classical>(game: &G, games: usize) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut legal = ActionList::new();
    for number in 0..games {
        let mut state = game.start();
        game.legal(&state, &mut legal);
        for ply in 0.. {
            if legal.is_empty() {
                break;
            }
            if ply % 7 == number % 7 {
                for heuristic in G::heuristics() {
                    let depth = rng.random_range(1..=3);
                    let minimax = Minimax::new(game, &*heuristic).search(&state, depth);
                    let alphabeta = AlphaBeta::new(game, &*heuristic).search(&state, depth);
                    let at = format!("{} depth {depth} {}", heuristic.name(), game.position_text(&state));
                    assert_eq!((alphabeta.score, alphabeta.action), (minimax.score, minimax.action), "{at}");
                }
            }
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
            game.legal(&state, &mut legal);
        }
    }
}

#[test]
fn all_games() {
    for name in NAMES {
        let any = AnyGame::new(name, &Params::new()).expect("defaults are valid");
        with_game!(&any, |game| agree(game, 20));
    }
}

#[test]
fn the_seeds_evaluation_of_mancala() {
    let game = turnstone_env::games::Mancala::default();
    let mut state = game.start();
    // Equal at depth 1 except B4, which ends in the store and scores 1 with the move kept.
    let found = Minimax::new(&game, &StoreDifference).search(&state, 1);
    assert_eq!((found.score, game.action_text(found.action.expect("running"))), (1, "B4".into()));
    // After B2 (no store) A2 to A5 all sow one stone into the store: the first in board order is chosen.
    play_text(&game, &mut state, "B2").expect("legal");
    let found = Minimax::new(&game, &StoreDifference).search(&state, 1);
    assert_eq!((found.score, game.action_text(found.action.expect("running"))), (-1, "A2".into()));
    assert_eq!(game.mover(&state), Side::Second);
}

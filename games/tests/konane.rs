//! Exact values of Konane against plain search through the rules, and the known winners of the starts.

use std::collections::HashMap;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Konane;
use turnstone_env::games::konane::State;
use turnstone_env::{ActionList, Notation, Params, Rules, Side};
use turnstone_exact::{ExactValues, SharedSolver, SolveLimits};
use turnstone_games::konane::{KonaneSolver, KonaneValues};

fn game(size: usize, first_player: &str) -> Konane {
    Konane::default().with_params(&Params::new().with("size", size).with("first_player", first_player)).expect("valid")
}

/// Who wins, by search to the end with nothing but the rules; `None` if that takes too many positions.
fn winner(game: &Konane, state: &State, known: &mut HashMap<State, Side>, most: usize) -> Option<Side> {
    if let Some(outcome) = game.outcome(state) {
        return outcome.winner;
    }
    if let Some(&winner) = known.get(state) {
        return Some(winner);
    }
    if known.len() > most {
        return None;
    }
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let mover = game.mover(state);
    let mut found = mover.other();
    for &action in &legal {
        let mut next = *state;
        game.play(&mut next, action);
        if winner(game, &next, known, most)? == mover {
            found = mover;
            break;
        }
    }
    known.insert(*state, found);
    Some(found)
}

/// A position after this many random plies, before the game is over.
fn position(game: &Konane, plies: usize, rng: &mut impl Rng) -> State {
    let mut legal = ActionList::new();
    loop {
        let mut state = game.start();
        for _ in 0..plies {
            game.legal(&state, &mut legal);
            if legal.is_empty() {
                break;
            }
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        }
        if game.outcome(&state).is_none() {
            return state;
        }
    }
}

#[test]
fn every_position_of_the_smallest_board() {
    for first_player in ["X", "O"] {
        let game = game(4, first_player);
        let solver = KonaneSolver::new(1 << 12);
        let mut known = HashMap::new();
        let mut open = vec![game.start()];
        let mut legal = ActionList::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(state) = open.pop() {
            let expected = winner(&game, &state, &mut known, usize::MAX);
            assert_eq!(solver.winner(&game, &state, &SolveLimits::NONE), expected, "{}", game.position_text(&state));
            game.legal(&state, &mut legal);
            for &action in &legal {
                let mut next = state;
                game.play(&mut next, action);
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        let second = game.mover(&game.start()).other();
        assert_eq!(solver.winner(&game, &game.start(), &SolveLimits::NONE), Some(second));
    }
}

#[test]
fn the_second_player_wins_on_six_by_six() {
    // If O begins it is the same, after twice as many nodes.
    let game = game(6, "X");
    let solver = KonaneSolver::new(1 << 23);
    assert_eq!(solver.winner(&game, &game.start(), &SolveLimits::NONE), Some(Side::Second));
}

#[test]
fn solver_and_plain_search_agree() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for (size, plies, positions) in [(6, 8..14, 150), (8, 24..34, 150)] {
        for first_player in ["X", "O"] {
            let game = game(size, first_player);
            let solver = KonaneSolver::new(1 << 10);
            let mut compared = 0;
            for _ in 0..positions {
                let state = position(&game, rng.random_range(plies.clone()), &mut rng);
                let Some(expected) = winner(&game, &state, &mut HashMap::new(), 20_000) else { continue };
                let found = solver.winner(&game, &state, &SolveLimits::NONE);
                assert_eq!(found, Some(expected), "{}", game.position_text(&state));
                compared += 1;
            }
            assert!(compared > positions / 20, "{compared}");
        }
    }
}

#[test]
fn budgets_and_large_boards_are_not_covered() {
    let truth = KonaneValues(SharedSolver::new(KonaneSolver::new(1 << 10), SolveLimits::nodes(500)));
    let large = game(10, "X");
    assert_eq!(truth.value(&large, &large.start()), None);
    let usual = game(8, "X");
    assert_eq!(truth.value(&usual, &usual.start()), None);
    let small = game(4, "O");
    assert_eq!(truth.value(&small, &small.start()), Some(1));
}

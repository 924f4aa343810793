//! The exact solution of Mu Torere: its known counts, and consistency with the rules.

use std::collections::HashMap;

use turnstone_env::games::{MuTorere, mu_torere::State};
use turnstone_env::{ActionList, Notation, Params, Rules};
use turnstone_exact::{ExactValues, Solution};
use turnstone_games::mu_torere::MuTorereValues;

/// Positions won, lost and drawn for the mover.
fn counts(game: &MuTorere, solution: &Solution<MuTorere>) -> [usize; 3] {
    let mut counts = [0; 3];
    for state in solution.states() {
        let value = f32::from(solution.value(state).expect("reachable")) * game.mover(state).sign();
        counts[if value > 0.0 { 0 } else { 1 + usize::from(value == 0.0) }] += 1;
    }
    counts
}

fn solved(traditional: bool) -> (MuTorere, Solution<MuTorere>) {
    let params = Params::new().with("max_plies", 0).with("hub_needs_neighbour", traditional);
    let game = MuTorere::default().with_params(&params).expect("valid");
    let solution = Solution::of(&game, 100_000).expect("small");
    (game, solution)
}

#[test]
fn the_known_counts() {
    let (game, solution) = solved(false);
    assert_eq!(counts(&game, &solution), [320, 160, 700]);
    assert_eq!(solution.value(&game.start()), Some(0));
    let (game, solution) = solved(true);
    assert_eq!(counts(&game, &solution), [208, 128, 844]);
    assert_eq!(solution.value(&game.start()), Some(0));
}

#[test]
fn every_value_is_the_best_of_its_successors() {
    let (game, solution) = solved(false);
    let mut legal = ActionList::new();
    for state in solution.states() {
        game.legal(state, &mut legal);
        let sign = game.mover(state).sign() as i8;
        let best = legal.iter().map(|&action| {
            let mut next = *state;
            game.play(&mut next, action);
            sign * solution.value(&next).expect("successors are reachable")
        });
        let expected = best.max().map_or_else(|| game.outcome(state).expect("over").value(), |best| sign * best);
        assert_eq!(solution.value(state), Some(expected), "{}", game.position_text(state));
    }
}

/// The value for the first side by backward induction over the rules, limits included.
fn induced(game: &MuTorere, state: &State, known: &mut HashMap<State, i8>) -> i8 {
    if let Some(outcome) = game.outcome(state) {
        return outcome.value();
    }
    if let Some(&value) = known.get(state) {
        return value;
    }
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let sign = game.mover(state).sign() as i8;
    let best = legal.iter().map(|&action| {
        let mut next = *state;
        game.play(&mut next, action);
        sign * induced(game, &next, known)
    });
    let value = sign * best.max().expect("a running game");
    known.insert(*state, value);
    value
}

#[test]
fn values_with_the_limit_are_those_of_backward_induction() {
    for (max_plies, traditional) in [(40, false), (23, true), (100, false)] {
        let params = Params::new().with("max_plies", max_plies).with("hub_needs_neighbour", traditional);
        let game = MuTorere::default().with_params(&params).expect("valid");
        let (truth, mut known) = (MuTorereValues::new(&game).expect("no fault"), HashMap::new());
        let (_, unlimited) = solved(traditional);
        let (mut decided, mut spoiled) = (0, 0);
        for state in unlimited.states() {
            let board = game.position_text(state);
            let (board, _) = board.rsplit_once(' ').expect("the plies come last");
            for plies in 0..=max_plies {
                let state = game.parse_position(&format!("{board} {plies}")).expect("possible");
                let expected = induced(&game, &state, &mut known);
                assert_eq!(truth.value(&game, &state), Some(expected), "{board} {plies}");
                decided += usize::from(expected != 0);
                spoiled += usize::from(expected == 0 && unlimited.value(&at_rest(&game, &state)) != Some(0));
            }
        }
        assert!(decided > 1000 && spoiled > 100, "{decided} decided, {spoiled} that the limit spoils");
    }
}

/// The state of the game without the limit.
fn at_rest(game: &MuTorere, state: &State) -> State {
    let free = MuTorere { max_plies: 0, ..*game };
    free.parse_position(&game.position_text(state)).expect("the same text")
}

#[test]
fn too_many_positions_are_given_up() {
    assert!(Solution::of(&MuTorere::default(), 1000).is_none());
}

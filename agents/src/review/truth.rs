//! Exact values of the positions of a game, and lines of best play by them.

use turnstone_env::{Action, AnyState, DynGame};

use crate::DynExactValues;

/// Maximum number of plies of a line.
pub(super) const LONGEST_LINE: usize = 12;

/// Exact values around a move.
#[derive(Clone, Debug)]
pub struct KnownMove {
    /// Value of the position for the first side before and after the move.
    pub(super) values: [i8; 2],
    /// The actions that keep the value, as far as they are known.
    pub(super) keepers: Vec<Action>,
    /// Whether the values of all legal actions are known.
    pub(super) all_known: bool,
}

/// The value of a position for the first side, also where the game is over.
fn value(game: &dyn DynGame, truth: &dyn DynExactValues, state: &AnyState) -> Option<i8> {
    match game.outcome(state) {
        // A limit of plies may end the game where the values do not count plies.
        Some(outcome) if outcome.truncated => truth.value(state).or(Some(outcome.value())),
        Some(outcome) => Some(outcome.value()),
        None => truth.value(state),
    }
}

/// What is exactly known about each move of a game. The last ones come first, since what a solver finds there helps it
/// before. `None` if `progress` has returned false, which is called after each move.
pub fn known_moves(
    game: &dyn DynGame,
    truth: &dyn DynExactValues,
    positions: &[AnyState],
    progress: &dyn Fn() -> bool,
) -> Option<Vec<Option<KnownMove>>> {
    let mut moves = Vec::new();
    let mut after = positions.last().and_then(|last| value(game, truth, last));
    for state in positions.iter().rev().skip(1) {
        let before = value(game, truth, state);
        moves.push(before.zip(after).map(|(before, after)| known(game, truth, state, [before, after])));
        after = before;
        if !progress() {
            return None;
        }
    }
    moves.reverse();
    Some(moves)
}

fn known(game: &dyn DynGame, truth: &dyn DynExactValues, state: &AnyState, values: [i8; 2]) -> KnownMove {
    let mut keepers = Vec::new();
    let mut all_known = true;
    for &action in &game.legal_actions(state) {
        let mut after = state.clone();
        game.play(&mut after, action);
        match value(game, truth, &after) {
            Some(value) if value == values[0] => keepers.push(action),
            Some(_) => {}
            None => all_known = false,
        }
    }
    KnownMove { values, keepers, all_known }
}

/// The line that begins with an action and continues with best play, as far as exact values reach.
pub(super) fn best_line(
    game: &dyn DynGame,
    truth: &dyn DynExactValues,
    state: &AnyState,
    first: Action,
) -> Vec<Action> {
    let mut state = state.clone();
    let mut line = vec![first];
    game.play(&mut state, first);
    while line.len() < LONGEST_LINE && game.outcome(&state).is_none() {
        let Some(&next) = truth.optimal_actions(&state).as_deref().and_then(<[Action]>::first) else { break };
        line.push(next);
        game.play(&mut state, next);
    }
    line
}

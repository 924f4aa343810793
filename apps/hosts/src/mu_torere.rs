//! The functions of the Mu Torere notebook ("3x3 Grid Version"): boards of nine squares, moves as `[start, end]`.

use turnstone_env::games::mu_torere;

/// The notebook's `state`: 0 for an empty square, 1 and 2 for a piece of that player.
pub type State = [u8; 9];

/// The notebook's `initial_state`: player 1 on 0, 2, 6, 8, player 2 on 1, 3, 5, 7, the hub empty.
#[must_use]
pub fn initial_state() -> State {
    [1, 2, 1, 2, 0, 2, 1, 2, 1]
}

/// The notebook's `adjacent_squares`, in increasing order; `None` where it raises "You can't get there from here".
#[must_use]
pub fn adjacent_squares(location: usize) -> Option<&'static [u8]> {
    mu_torere::ADJACENT.get(location).copied()
}

/// The notebook's `valid_moves`: the player's moves by start and end.
///
/// A move from the ring, into the hub too, needs an opponent's piece next to the end square.
///
/// ```
/// use turnstone_hosts::mu_torere::{initial_state, valid_moves};
///
/// assert_eq!(valid_moves(&initial_state(), 1), [[0, 4], [2, 4], [6, 4], [8, 4]]);
/// ```
#[must_use]
pub fn valid_moves(state: &State, player: u8) -> Vec<[u8; 2]> {
    let other_player = other(player);
    let adjacent = |square: u8| mu_torere::ADJACENT[usize::from(square)];
    let mut moves = Vec::new();
    for start in (0..9).filter(|&start| state[usize::from(start)] == player) {
        for end in (0..9).filter(|end| state[usize::from(*end)] == 0 && adjacent(start).contains(end)) {
            let found = adjacent(end).iter().any(|&check| state[usize::from(check)] == other_player);
            if start == 4 || found {
                moves.push([start, end]);
            }
        }
    }
    moves
}

/// The notebook's `update_state`: the state after a move, which is not checked.
///
/// # Panics
/// If a square of the move is not on the board.
#[must_use]
pub fn update_state(state: &State, player: u8, [start, end]: [u8; 2]) -> State {
    let mut new_state = *state;
    new_state[usize::from(start)] = 0;
    new_state[usize::from(end)] = player;
    new_state
}

/// The values of the notebook's `win_status` other than `None`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WinStatus {
    /// `'win'`: the player has won.
    Win,
    /// `'lose'`: the player has lost. The notebook names it, but its code never returns it.
    Lose,
    /// `'stalemate'`: named by the notebook, never returned by its code.
    Stalemate,
}

/// The notebook's `win_status`, asked after a move of `player`: a win if the opponent has no valid move, else `None`,
/// the game is not over.
#[must_use]
pub fn win_status(state: &State, player: u8) -> Option<WinStatus> {
    valid_moves(state, other(player)).is_empty().then_some(WinStatus::Win)
}

fn other(player: u8) -> u8 {
    if player == 1 { 2 } else { 1 }
}

//! Classical search with a static evaluation: minimax and alpha-beta.
//!
//! Scores are integers for the first side throughout: its nodes maximise, the other side's minimise, and the window
//! `(alpha, beta)` is never negated or swapped, so it does not matter whether the mover changes between plies.

mod heuristic;
mod minimax;
mod alphabeta;

pub use alphabeta::AlphaBeta;
pub use heuristic::{Classical, Heuristic, StoreDifference, ToyMargin, WON, WinLoss};
pub use minimax::Minimax;

use turnstone_env::Action;

/// What a classical search found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// The best action; the first of the best in the order of the actions, as the seeds break ties. `None` if the game is over or the depth 0.
    pub action: Option<Action>,
    /// Its score for the first side, in the heuristic's units.
    pub score: i32,
    /// Positions visited below the root.
    pub nodes: u64,
    /// Positions evaluated by static estimation, finished games included.
    pub evaluated: u64,
}

//! Classical search with a static evaluation: minimax, alpha-beta, breadth-first and best-first search.
//!
//! Scores are integers for the first side throughout: its nodes maximise, the other side's minimise, and the window
//! `(alpha, beta)` is never negated or swapped, so it does not matter whether the mover changes between plies.

pub mod heuristic;
mod found;
mod limits;
mod minimax;
mod alphabeta;
mod game_tree;
mod breadth_first;
mod best_first;

pub use alphabeta::{AlphaBeta, MAX_DEPTH};
pub use best_first::BestFirst;
pub use breadth_first::BreadthFirst;
pub use found::{SearchResult, SearchStats};
pub use game_tree::MOST_POSITIONS;
pub use heuristic::toy::ToyMargin;
pub use heuristic::{Heuristic, WIN_BAND, WON, WinLoss};
pub use limits::{Control, Limits};
pub use minimax::Minimax;

//! The exact truth of games that are small enough.

mod reachable;

pub use reachable::Solution;

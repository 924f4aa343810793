//! The built-in kinds of agents.

mod simple;
mod classical;
mod tree;
mod others;

pub(crate) use classical::{AlphaBeta, BestFirst, BreadthFirst, ClassicalKind, Minimax};
#[cfg(test)]
pub(crate) use others::Exact;
pub(crate) use simple::{Human, Random};
pub use tree::{Network, Playouts};

use crate::kind::Entry;

/// The built-in kinds.
pub(crate) fn built_in() -> Vec<Entry> {
    vec![
        Entry::of::<simple::Human>(),
        Entry::of::<simple::Random>(),
        Entry::of::<simple::Level>(),
        Entry::of::<classical::Minimax>(),
        Entry::of::<classical::AlphaBeta>(),
        Entry::of::<classical::BreadthFirst>(),
        Entry::of::<classical::BestFirst>(),
        Entry::of::<Playouts>(),
        Entry::of::<Network>(),
        Entry::of::<others::Exact>(),
        Entry::of::<others::Engine>(),
    ]
}

//! Tree search over [`turnstone_env`] games: Monte Carlo tree search with a [`Backend`], minimax and alpha-beta with
//! static evaluations.
//!
//! Values are for [`Side::First`](turnstone_env::Side) wherever they are stored, in `-1..=1` for tree search and in the
//! heuristic's units for classical search; `ARCHITECTURE.md` lists the few places that turn them. No code assumes that
//! the mover alternates. The crate knows no tensors, starts no threads, and reads no clock but the [`Clock`] that it is
//! given.

pub mod hash;
pub mod clock;
pub mod stop;
pub mod backend;
pub mod mcts;
pub mod seats;
pub mod classic;

pub use backend::{
    Backend, CacheStats, Cached, EvalBatch, Evaluation, Fault, Queued, Rollout, Split, TensorFunction, TensorRows,
    Tensors, Uniform,
};
pub use clock::Clock;
pub use mcts::{
    Gumbel, Mcts, Method, Puct, RootAction, RootNoise, SearchOptions, SearchStep, SharedSearch, SharedSimulator,
    TREE_LIMIT, TreeSize, draw_weighted,
};
pub use seats::{Pace, Seats};
pub use stop::Stop;

/// The page for people with a backend of their own, whose example is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../docs/adding-a-backend.md")]
struct AddingABackend;

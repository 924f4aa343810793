//! Tree search over [`turnstone_env`] games: Monte Carlo tree search with an [`Evaluator`], minimax and alpha-beta with
//! static evaluations.
//!
//! Values are for [`Side::First`](turnstone_env::Side) wherever they are stored, in `-1..=1` for tree search and in the
//! heuristic's units for classical search; they turn relative at one place only, where a node chooses among its
//! children. No code assumes that the mover alternates. The crate knows no tensors, starts no threads, and reads no
//! clock but the [`Clock`] that it is given.

pub mod hash;
pub mod clock;
pub mod evaluator;
pub mod tensors;
pub mod requests;
pub mod mcts;
pub mod pool;
pub mod classic;

pub use clock::Clock;
pub use evaluator::{EvalBatch, Evaluation, Evaluator, Rollout, Uniform};
pub use mcts::{
    Gumbel, Mcts, Method, Puct, RootAction, RootNoise, SearchOptions, SearchStep, SharedSearch, SharedWalker,
    TREE_LIMIT, TreeSize, draw_weighted,
};
pub use pool::{Pool, Pooled, Spare};
pub use requests::{CacheStats, Lookup, Requests};
pub use tensors::{ReadTensors, TensorEvaluator, TensorFault};

//! Tree search over [`turnstone_env`] games: Monte Carlo tree search with an [`Evaluator`], minimax,
//! alpha-beta, and exact solutions of small games.
//!
//! Values are for [`Side::First`](turnstone_env::Side) wherever they are stored, in `-1..=1` for tree search and in the
//! heuristic's units for classical search; they turn relative at one place only, where a node chooses among its
//! children. No code assumes that the mover alternates. No tensor lives in this crate, and
//! threads only in exact solvers.

pub mod hash;
pub mod evaluator;
pub mod requests;
pub mod mcts;
pub mod classic;

pub use evaluator::{Batch, Estimate, Evaluator, Rollout, Uniform};
pub use mcts::{Gumbel, Mcts, Method, Puct, RootAction, RootNoise, Step, TreeSize};
pub use requests::{Request, Requests, Traffic};

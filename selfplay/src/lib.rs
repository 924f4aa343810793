//! Self-play of policy/value networks with MCTS, and the replay window that it fills.
//!
//! Every worker steps many games and evaluates their leaves together; game `n` of an iteration has a random stream of its
//! own, so that the games depend neither on the number of threads nor on their scheduling. A [`TrainableGame`] is a game
//! of any type that can play itself; [`built_in`] lists those of this workspace. Nothing here needs burn.

pub mod config;
pub mod replay;
mod sample_game;
mod self_play;
mod trainable;

pub use config::{SearchConfig, SelfPlayConfig};
pub use sample_game::{SamplePly, Sampling};
pub use self_play::{Progress, SelfPlayGames, SelfPlayStats, Task, outcome_shares};
pub use trainable::{Games, TrainableGame, built_in, row};

//! Self-play of policy/value networks with MCTS, and the replay window for its positions.
//!
//! Every worker steps many games and evaluates their leaves in one batch. Game `n` of an iteration has its own random
//! stream, so that games depend neither on the number of threads nor on their scheduling. [`TrainableGame`] is an
//! object-safe game that can play itself, and [`row`] its entry in a list of games. This crate does not depend on
//! burn.

pub mod config;
pub mod replay;
mod self_play;
mod trainable;
mod self_player;
mod without_end;

pub use config::{SearchConfig, SelfPlayConfig};
pub use self_play::{
    FinishedGame, GameSettings, MOST_PLIES, SelfPlayCounters, SelfPlayGames, SelfPlayStats, Session, Task,
    TranscriptDecoder,
};
pub use self_player::{PackedTask, SelfPlayError, SelfPlayer, ThisMachine};
pub use trainable::{Games, TrainableGame, row};
pub use without_end::{ENDLESS, without_end};

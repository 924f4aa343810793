//! Self-play training of policy/value networks for board games, in the manner of AlphaZero.
//!
//! Data flows one way: [`config`] -> [`self_play`] -> [`replay`] -> [`learn`] -> [`run`] (checkpoints and matches) ->
//! [`report`]. A [`Games`] is the list of games that a program knows; [`built_in`] is that of this workspace.

pub mod config;
pub mod replay;
pub mod self_play;
mod sample_game;
mod trainable;
pub mod learn;
pub mod tensorboard;
pub mod progress;
pub mod metrics;
pub mod run_folder;
pub mod run;
pub mod report;
pub mod doctor;

pub use sample_game::{SamplePly, Sampling};
pub use trainable::{Games, TrainableGame, built_in, row};

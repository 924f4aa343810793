//! Self-play training of policy/value networks for board games, in the manner of AlphaZero.
//!
//! Data flows one way: [`config`] -> [`turnstone_selfplay`] -> [`learn`] -> [`run`] (checkpoints and matches) ->
//! [`report`].

pub mod targets;
pub mod config;
pub mod learn;
pub mod tensorboard;
pub mod metrics;
mod metrics_file;
pub mod run_folder;
pub mod run;
pub mod report;
pub mod sweep;
pub mod doctor;

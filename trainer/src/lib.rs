//! Self-play trainer and arena for the games of [`turnstone_env`]: the library behind the `turnstone` program.
//!
//! Data flows one way: [`config`] -> [`self_play`] -> [`replay`] -> [`learn`] -> [`run`] (checkpoints) -> [`arena`].

pub mod agents;
pub mod arena;
pub mod cli;
mod commands;
pub mod config;
pub mod learn;
pub mod metrics;
pub mod network;
pub mod progress;
pub mod replay;
pub mod run;
pub mod run_folder;
pub mod self_play;
pub mod streams;
pub mod tensorboard;

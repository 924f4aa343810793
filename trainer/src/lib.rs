//! Self-play trainer and arena for the games of [`turnstone_env`]: the library behind the `turnstone` program.
//!
//! Data flows one way: [`config`] -> [`self_play`] -> [`replay`] -> [`learn`] -> [`run`] (checkpoints) -> [`arena`].

pub mod streams;
mod lock;
pub mod network;
pub mod talk;
pub mod agents;
pub mod config;
pub mod replay;
pub mod self_play;
pub mod learn;
mod page;
pub mod arena;
pub mod grading;
pub mod metrics;
pub mod tensorboard;
pub mod progress;
pub mod run_folder;
pub mod run;
pub mod report;
pub mod export;
pub mod doctor;
pub mod engine;
pub mod analysis;
pub mod pyro;
pub mod cli;
mod commands;

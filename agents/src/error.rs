//! Errors of loading and running agents.

use std::path::PathBuf;

use thiserror::Error;
use turnstone_models::{CheckpointError, MismatchError, NetworkError};

use crate::player::PlayerFault;

/// Error of loading an agent or of running its player.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The spec is malformed, or does not fit the game.
    #[error("agent `{spec}`: {fault}")]
    Spec {
        /// The spec given.
        spec: String,
        /// What is wrong with it.
        fault: String,
    },
    /// The checkpoint cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The checkpoint is of something else.
    #[error("{}: {mismatch}", path.display())]
    Mismatch {
        /// The checkpoint.
        path: PathBuf,
        /// How it differs.
        mismatch: MismatchError,
    },
    /// No trained agent comes with the program for this game.
    #[error(
        "no trained agent comes with the program for `{game}` (only for: {games}); train one, or name a checkpoint"
    )]
    NotPretrained {
        /// The game.
        game: String,
        /// The games that have one.
        games: String,
    },
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A player failed where nothing can go on without it.
    #[error(transparent)]
    Player(#[from] PlayerFault),
}

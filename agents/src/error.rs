//! Errors of loading and running agents.

use std::fmt::Display;
use std::path::PathBuf;

use thiserror::Error;
use turnstone_models::{CheckpointError, MismatchError, NetworkError};

use crate::interface::PlayerFault;

/// Error of loading an agent or of running its search.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The spec is malformed, or does not fit the game.
    #[error("agent `{spec}`: {fault}")]
    Spec {
        /// Text of the spec.
        spec: String,
        /// The fault.
        fault: String,
    },
    /// The checkpoint cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// There is no such checkpoint or run.
    #[error("{}: no such checkpoint or run{advice}", path.display())]
    NoCheckpoint {
        /// The name given.
        path: PathBuf,
        /// A similar name, as a continuation of the sentence; may be empty.
        advice: String,
    },
    /// The checkpoint does not fit the game.
    #[error("{}: {mismatch}", path.display())]
    Mismatch {
        /// File of the checkpoint.
        path: PathBuf,
        /// The difference.
        mismatch: MismatchError,
    },
    /// The network's outputs for positions of the game are not finite.
    #[error("{}: the network's outputs for positions of the game are not finite", .0.display())]
    NotFinite(PathBuf),
    /// No trained agent for this game is shipped with the program.
    #[error("no trained agent comes with the program for `{game}`; train one, or name a checkpoint")]
    NotPretrained {
        /// Name of the game.
        game: String,
    },
    /// The levels that come with a game have a fault.
    #[error("the levels of {game}: {fault}")]
    Levels {
        /// Name of the game.
        game: String,
        /// The fault.
        fault: String,
    },
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// It failed to start or to choose an action.
    #[error(transparent)]
    Player(#[from] PlayerFault),
}

impl From<String> for AgentError {
    /// The fault of an agent, without its spec, which is added where the agent is known.
    fn from(fault: String) -> Self {
        Self::Spec { spec: String::new(), fault }
    }
}

impl AgentError {
    /// The error with the spec of its agent, if it has none.
    pub(crate) fn of(self, spec: &impl Display) -> Self {
        match self {
            Self::Spec { spec: none, fault } if none.is_empty() => Self::Spec { spec: spec.to_string(), fault },
            other => other,
        }
    }
}

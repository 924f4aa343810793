//! Errors of names, parameters, positions and actions that come from outside.

use thiserror::Error;
use turnstone_base::text::{advice, nearest};

/// A one-line error that names the input and the fault.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Error {
    /// No game of this name.
    #[error("unknown game `{}`{}", shortened(name), among(name, known))]
    UnknownGame {
        /// The name given.
        name: String,
        /// All names.
        known: Vec<String>,
    },
    /// The game has no parameter of this name.
    #[error("{game} has no parameter `{key}`{}", among(key, known))]
    UnknownParam {
        /// The game.
        game: &'static str,
        /// The key given.
        key: String,
        /// All keys.
        known: Vec<String>,
    },
    /// A parameter has a value that it cannot have.
    #[error("{game}: parameter `{key}` = `{value}`: {fault}")]
    ParamValue {
        /// The game.
        game: &'static str,
        /// The parameter.
        key: String,
        /// The value given.
        value: String,
        /// What is wrong with it.
        fault: String,
    },
    /// A position's text is malformed or describes an impossible position.
    #[error("position `{}`: {fault}", shortened(.text))]
    Position {
        /// The text given.
        text: String,
        /// What is wrong with it.
        fault: String,
    },
    /// An action's text is malformed.
    #[error("action `{}`: {fault}", shortened(.text))]
    Action {
        /// The text given.
        text: String,
        /// What is wrong with it.
        fault: String,
    },
    /// A well-formed action that the rules do not allow here.
    #[error("illegal action `{action}`; legal: {legal}")]
    Illegal {
        /// The action's text.
        action: String,
        /// The legal actions' texts, joined.
        legal: String,
    },
    /// An action in a game that is over.
    #[error("action `{}`: the game is over", shortened(.action))]
    GameOver {
        /// The action's text.
        action: String,
    },
    /// An action of a batch is wrong; none of the batch was played.
    #[error("env {env}: {source}")]
    InEnv {
        /// The env's index in the batch.
        env: usize,
        /// What is wrong.
        source: Box<Error>,
    },
    /// A batch of actions has the wrong length.
    #[error("{given} actions for {envs} envs")]
    BatchLength {
        /// Number of actions given.
        given: usize,
        /// Number of envs.
        envs: usize,
    },
}

impl Error {
    /// A [`Error::Position`].
    pub fn position(text: &str, fault: impl Into<String>) -> Self {
        Self::Position { text: text.to_owned(), fault: fault.into() }
    }

    /// A [`Error::Action`].
    pub fn action(text: &str, fault: impl Into<String>) -> Self {
        Self::Action { text: text.to_owned(), fault: fault.into() }
    }
}

/// Hint after an unknown name.
fn among(name: &str, known: &[String]) -> String {
    advice(nearest(name, known.iter().map(String::as_str)).as_deref(), known)
}

/// Input from outside as it may stand in a one-line message: printable and at most 80 characters.
#[must_use]
pub fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown
}

//! What can be wrong with names, parameters, positions and actions that come from outside.

use thiserror::Error;

/// A one-line error that names the input and the fault.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Error {
    /// No game of this name.
    #[error("unknown game `{name}`{}; the games are {known}", suggestion(.nearest))]
    UnknownGame {
        /// The name given.
        name: String,
        /// The nearest known name, if one is near.
        nearest: Option<String>,
        /// All names, joined for the message.
        known: String,
    },
    /// The game has no parameter of this name.
    #[error("{game} has no parameter `{key}`{}; its parameters are {known}", suggestion(.nearest))]
    UnknownParam {
        /// The game.
        game: &'static str,
        /// The key given.
        key: String,
        /// The nearest known key, if one is near.
        nearest: Option<String>,
        /// All keys, joined for the message.
        known: String,
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

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
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

/// The candidate nearest to `name` by edit distance, if it is near enough to be a likely slip.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // A name that is much longer, perhaps a megabyte of a foreign file, is not compared.
    let length = name.chars().count();
    candidates
        .into_iter()
        .filter(|candidate| length <= 1 + candidate.chars().count() + candidate.len() / 3)
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= 1 + candidate.len() / 3)
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

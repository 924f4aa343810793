//! Game parameters as text (`k=v`).

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// Parameters of a game by name, values as text. Keys that are absent take the game's default.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(BTreeMap<String, String>);

impl Params {
    /// No parameter given: all defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a parameter.
    pub fn set(&mut self, key: impl Into<String>, value: impl Display) {
        self.0.insert(key.into(), value.to_string());
    }

    /// The same with one more parameter set.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Display) -> Self {
        self.set(key, value);
        self
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&String> {
        self.0.get(key)
    }

    /// Keys and values in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, value)) in self.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

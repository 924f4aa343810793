//! The one kind of error that crosses the border: a line for people.

use std::fmt;

/// What is wrong with a request, in one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

impl From<turnstone_env::Error> for Fault {
    fn from(error: turnstone_env::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<turnstone_agents::AgentError> for Fault {
    fn from(error: turnstone_agents::AgentError) -> Self {
        Self(error.to_string())
    }
}

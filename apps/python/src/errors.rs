//! Rust errors as Python exceptions.

use std::fmt::Display;

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use turnstone_agents::AgentError;
use turnstone_base::settings::{Range, Value};
use turnstone_base::text::nearest;
use turnstone_env::Error;
use turnstone_search::Fault;

create_exception!(
    turnstone_rl,
    IllegalActionError,
    PyValueError,
    "An action that the rules do not allow in the position."
);

create_exception!(
    turnstone_rl,
    GameError,
    PyValueError,
    "A fault of a game whose rules are written in Python: an exception or a wrong result of a method. The message names the \
     game, the method and the fault; `__cause__` is the exception."
);

/// Adds the package's own exceptions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("IllegalActionError", module.py().get_type::<IllegalActionError>())?;
    module.add("GameError", module.py().get_type::<GameError>())
}

/// An action that the rules do not allow.
pub(crate) fn illegal_action(message: String) -> PyErr {
    IllegalActionError::new_err(message)
}

/// A keyword argument that a call does not take, in the words of Python, which libraries look for. `known` are the names that
/// it takes.
pub(crate) fn unexpected_keyword<'a>(call: &str, key: &str, known: impl Iterator<Item = &'a str>, why: &str) -> PyErr {
    let near = nearest(key, known).map(|near| format!(" (did you mean '{near}'?)")).unwrap_or_default();
    PyTypeError::new_err(format!("{call}() got an unexpected keyword argument '{key}'{near}; {why}"))
}

/// A fault of rules in Python.
pub(crate) fn rules_error(message: String) -> PyErr {
    GameError::new_err(message)
}

/// Whether it is one of [`rules_error`].
pub(crate) fn is_rules_error(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<GameError>(py)
}

/// Names, parameters, positions and actions.
pub(crate) fn game_error(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Illegal { .. } | Error::GameOver { .. } | Error::InEnv { .. } => illegal_action(message),
        _ => PyValueError::new_err(message),
    }
}

/// Specs, checkpoints and players.
pub(crate) fn agent_error(error: AgentError) -> PyErr {
    match error {
        AgentError::Player(_) => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// A value that was given is wrong.
pub(crate) fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The number, if it is from `least` to `most`; `name` names it in the error.
pub(crate) fn within<T: Value>(name: &str, value: T, least: u32, most: u32) -> PyResult<T> {
    Range::ANY.of(least..=most).check(name, value).map_err(value_error)
}

/// An error of the program, with its causes in one line. Faults of the operating system are `OSError`s.
#[cfg(feature = "program")]
pub(crate) fn program_error<E>(error: E) -> PyErr
where
    E: Display + std::ops::Deref<Target = dyn std::error::Error + Send + Sync + 'static>,
{
    let message = format!("{error:#}").replace('\n', " ");
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&*error);
    while let Some(error) = cause {
        if error.is::<std::io::Error>() {
            return pyo3::exceptions::PyOSError::new_err(message);
        }
        cause = error.source();
    }
    PyValueError::new_err(message)
}

/// The exception that an evaluator raised, or a fault of its results.
pub(crate) fn evaluator_error(py: Python<'_>, fault: &Fault) -> PyErr {
    match fault.downcast_ref::<PyErr>() {
        Some(error) => error.clone_ref(py),
        None => PyValueError::new_err(format!("evaluate: {fault}")),
    }
}

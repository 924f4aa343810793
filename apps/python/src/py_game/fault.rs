//! Exceptions of rules written in Python, on their way through searches and self-play, whose code expects none.
//!
//! The rules' methods are called from loops that have no errors to return. An exception unwinds them, without a message on
//! standard error, up to [`Faults::guarded`] at the border to Python, where it is raised. Other threads of the same work
//! unwind at their next call of the rules.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use pyo3::exceptions::{PyAssertionError, PyException};
use pyo3::prelude::*;

use crate::errors::{is_rules_error, rules_error};

/// What unwinds the stack: the exception.
struct Unwinding(PyErr);

thread_local! {
    /// Whether panics of this thread print no message.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The exception that has ended the present work with a game.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Option<PyErr>>);

impl Faults {
    /// Ends the work with an exception.
    pub(super) fn raise(&self, error: PyErr) -> ! {
        let copy = Python::attach(|py| error.clone_ref(py));
        self.slot().get_or_insert(copy);
        panic::resume_unwind(Box::new(Unwinding(error)))
    }

    /// Ends the work of this thread if another thread has met an exception.
    pub(super) fn check(&self) {
        // The lock is not held while this thread waits for the GIL.
        if self.slot().is_some()
            && let Some(error) = Python::attach(|py| self.slot().as_ref().map(|error| error.clone_ref(py)))
        {
            panic::resume_unwind(Box::new(Unwinding(error)));
        }
    }

    /// Does work that calls the rules, and returns the exception that has ended it.
    pub(super) fn guarded<T>(&self, work: impl FnOnce() -> T) -> PyResult<T> {
        let panic = match panic::catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => return Ok(result),
            Err(panic) => panic,
        };
        let first = self.slot().take();
        match (panic.downcast::<Unwinding>(), first) {
            (_, Some(error)) => Err(error),
            // Of a game that was made from this one, with other parameters.
            (Ok(unwinding), None) => Err(unwinding.0),
            (Err(panic), None) => panic::resume_unwind(panic),
        }
    }

    /// Does work that asserts what the rules promise. A panic of it becomes an `AssertionError`, which names the game.
    pub(super) fn asserted(&self, game: &str, work: impl FnOnce()) -> PyResult<()> {
        silence();
        QUIET.set(true);
        let result = panic::catch_unwind(AssertUnwindSafe(|| self.guarded(work)));
        QUIET.set(false);
        result.unwrap_or_else(|panic| Err(PyAssertionError::new_err(format!("{game}: {}", message(&*panic)))))
    }

    fn slot(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The exception with the game and the method in front of its message. What is no `Exception`, such as Ctrl-C, stays as it is.
pub(super) fn named(py: Python<'_>, game: &str, method: &str, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyException>(py) || is_rules_error(py, &error) {
        return error;
    }
    let kind = error.get_type(py);
    let kind = kind.name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    let named = rules_error(format!("{game}.{method}: {kind}: {}", error.value(py)));
    named.set_cause(py, Some(error));
    named
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a check has failed")
}

/// Lets threads that are [`QUIET`] panic without a message.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                print(info);
            }
        }));
    });
}

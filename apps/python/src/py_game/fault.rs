//! Exceptions of rules written in Python, on their way through searches and self-play, whose code expects none.
//!
//! The rules' methods are called from loops that have no errors to return. An exception unwinds them, without a message on
//! standard error, up to [`Faults::guarded`] at the border to Python, where it is raised. Other threads of the same work
//! unwind at their next call of the rules. Ctrl-C unwinds all threads in the same way: [`Faults::interrupt`].

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use pyo3::exceptions::{PyAssertionError, PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

use crate::errors::{is_rules_error, rules_error};

/// Payload that unwinds the stack: the exception.
struct Unwinding(PyErr);

thread_local! {
    /// Whether panics of this thread print no message.
    static QUIET: Cell<bool> = const { Cell::new(false) };

    /// Python's number of this thread, if it is known; 0 is none.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// Reason to end the current work with a game.
#[derive(Default)]
pub(crate) struct Faults {
    /// The first exception of the rules.
    first: Mutex<Option<PyErr>>,
    is_interrupted: AtomicBool,
    /// Python's numbers of the threads that are in a call of the rules.
    calling: Mutex<Vec<u64>>,
}

impl Faults {
    /// Ends the work with an exception.
    pub(super) fn raise(&self, error: PyErr) -> ! {
        // Ctrl-C reaches every thread by itself.
        let copy = Python::attach(|py| (!error.is_instance_of::<PyKeyboardInterrupt>(py)).then(|| error.clone_ref(py)));
        if let Some(copy) = copy {
            self.slot().get_or_insert(copy);
        }
        panic::resume_unwind(Box::new(Unwinding(error)))
    }

    /// Ends the work of all threads at their next question. One that is in a call of the rules gets a `KeyboardInterrupt`
    /// there, which a method in the middle of a call of C, such as `time.sleep`, sees when that ends.
    pub(super) fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::Relaxed);
        Python::attach(|py| {
            let calling = self.calling().clone();
            calling.iter().for_each(|&thread| drop(interrupt_thread(py, thread))); // without ctypes they are waited for
        });
    }

    /// Ends what [`Faults::interrupt`] began, so that other work can begin.
    pub(super) fn resume(&self) {
        self.is_interrupted.store(false, Ordering::Relaxed);
    }

    /// Ends the work of this thread after an interruption.
    pub(super) fn check_interrupt(&self) {
        if self.is_interrupted.load(Ordering::Relaxed) {
            panic::resume_unwind(Box::new(Unwinding(PyKeyboardInterrupt::new_err(()))));
        }
    }

    /// Calls the rules, in which an interruption then finds this thread.
    pub(super) fn calling_rules<T>(&self, py: Python<'_>, call: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        let number = thread_number(py)?;
        self.calling().push(number);
        let result = call();
        let mut calling = self.calling();
        if let Some(place) = calling.iter().rposition(|&calling| calling == number) {
            calling.swap_remove(place);
        }
        result
    }

    fn calling(&self) -> MutexGuard<'_, Vec<u64>> {
        self.calling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the work of this thread if another thread has met an exception.
    pub(super) fn check(&self) {
        self.check_interrupt();
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
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does work that may call the rules of any game, and returns the exception that has ended it.
#[cfg(feature = "program")]
pub(crate) fn unwound<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match panic.downcast::<Unwinding>() {
        Ok(unwinding) => unwinding.0,
        Err(panic) => panic::resume_unwind(panic),
    })
}

/// Python's number of this thread.
fn thread_number(py: Python<'_>) -> PyResult<u64> {
    if NUMBER.get() == 0 {
        NUMBER.set(py.import("threading")?.call_method0("get_ident")?.extract()?);
    }
    Ok(NUMBER.get())
}

/// Raises a `KeyboardInterrupt` in a thread, as soon as it runs code of Python.
fn interrupt_thread(py: Python<'_>, number: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let exception = ctypes.call_method1("py_object", (py.get_type::<PyKeyboardInterrupt>(),))?;
    let number = ctypes.call_method1("c_ulong", (number,))?;
    ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", (number, exception)).map(drop)
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

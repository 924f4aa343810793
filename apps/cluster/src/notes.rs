//! Log lines of a leader or worker; locks that survive a panic.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A line of the log of a leader or worker.
#[derive(Clone, Debug)]
pub enum Note {
    /// For information.
    Line(String),
    /// Something is wrong with a worker or the server.
    Warning(String),
}

/// Prints or records notes.
pub type TakeNote = Arc<dyn Fn(Note) + Send + Sync>;

/// Locks a mutex, also after a thread has panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a reason")
}

//! What a leader or worker says to people, and locks that no panic closes.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is said to the people at a leader or worker.
#[derive(Clone, Debug)]
pub enum Note {
    /// For information.
    Line(String),
    /// Something is wrong with a worker or the server.
    Warning(String),
}

/// Takes notes.
pub type TakeNote = Arc<dyn Fn(Note) + Send + Sync>;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a panic says.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a reason")
}

//! Long calls that Ctrl-C interrupts: the work runs on a thread of its own while this one looks for signals.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::value_error;

/// Time between two looks for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// Calls Python's handlers of the signals that have arrived.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is for one lifetime, the closure for all")]
pub(crate) fn handle_signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Runs `work` without the GIL. When a signal handler raises an exception, as Ctrl-C does, `stop` is called, the end of
/// the work is awaited, and the exception is returned.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    stop: impl Fn() + Send + Sync,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    watched(py, stop, |_| Ok(()), work)
}

/// Runs `work`, which cannot be stopped, without the GIL. When a signal handler raises an exception, as Ctrl-C does, it is
/// returned at once; the work continues to its end on its own thread, and its result is dropped.
pub(crate) fn abandonable<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let _ = sender.send(work()); // after Ctrl-C nothing receives it
    });
    py.detach(move || {
        loop {
            match receiver.recv_timeout(INTERVAL) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => handle_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Err(value_error("the work has failed")),
            }
        }
    })
}

/// [`interruptible`], which calls `look` with the GIL at every look for signals; an exception of it stops the work too.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    stop: impl Fn() + Send + Sync,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let worker = scope.spawn(move || {
                let result = work();
                let _ = sender.send(()); // the receiver outlives this thread
                result
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(INTERVAL) {
                if raised.is_none() {
                    raised = Python::attach(|py| py.check_signals().and_then(|()| look(py))).err();
                    if raised.is_some() {
                        stop();
                    }
                }
            }
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match raised.or_else(|| Python::attach(|py| py.check_signals().and_then(|()| look(py))).err()) {
                Some(error) => Err(error),
                None => Ok(result),
            }
        })
    })
}

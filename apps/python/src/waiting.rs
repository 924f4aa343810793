//! Long calls that Ctrl-C interrupts: the work runs on a thread of its own while this one looks for signals.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::errors::value_error;

/// Time between two looks for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// Time that stopped work has to end. After it the work is left to itself.
const GRACE: Duration = Duration::from_millis(700);

/// Calls Python's handlers of the signals that have arrived.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is for one lifetime, the closure for all")]
pub(crate) fn handle_signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Runs `work` without the GIL, and calls `look` with it from time to time. When a signal handler raises an exception, as
/// Ctrl-C does, or `look` returns one, `stop` is called, more than once if the work goes on. The exception is returned when
/// the work has ended or its time for that is over: then it continues on its own thread, and its result is dropped.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    stop: impl Fn() + Send + Sync,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    py.detach(|| {
        let (sender, receiver) = channel();
        let work = move || {
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work))); // nobody waits for work that was left to itself
        };
        thread::Builder::new()
            .spawn(work)
            .map_err(|fault| value_error(format!("a thread cannot be started: {fault}")))?;
        let mut looked = || Python::attach(|py| py.check_signals().and_then(|()| look(py)));
        let mut raised: Option<(PyErr, Instant)> = None;
        let result = loop {
            match receiver.recv_timeout(INTERVAL) {
                Ok(result) => break result.unwrap_or_else(|panic| resume_unwind(panic)),
                Err(RecvTimeoutError::Disconnected) => return Err(value_error("the work has ended without a result")),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if raised.is_none() {
                raised = looked().err().map(|error| (error, Instant::now()));
            }
            if raised.is_some() {
                stop();
            }
            if let Some((error, _)) = raised.take_if(|(_, since)| since.elapsed() >= GRACE) {
                return Err(error);
            }
        };
        match raised.map(|(error, _)| error).or_else(|| looked().err()) {
            Some(error) => Err(error),
            None => Ok(result),
        }
    })
}

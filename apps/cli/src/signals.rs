//! A clean stop on Ctrl-C and SIGTERM.

use std::sync::atomic::{AtomicBool, Ordering};

use turnstone_base::terminal::print_stderr;

static STOP: AtomicBool = AtomicBool::new(false);

/// Installs a handler for Ctrl-C and SIGTERM and returns the flag that it sets, upon which long-running commands stop
/// cleanly. A second signal ends the process immediately.
///
/// # Errors
/// The handler cannot be installed.
#[expect(clippy::disallowed_methods, reason = "a second signal ends the program at once")]
pub(crate) fn stop_on_signals() -> Result<&'static AtomicBool, ctrlc::Error> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        print_stderr("stopping cleanly; press Ctrl-C again to quit immediately");
    })?;
    Ok(&STOP)
}

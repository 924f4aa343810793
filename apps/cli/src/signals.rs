//! A clean stop on Ctrl-C and SIGTERM.

use std::sync::OnceLock;

use turnstone_base::terminal::print_stderr;
use turnstone_search::Stop;

static STOP: OnceLock<Stop> = OnceLock::new();

/// Installs a handler for Ctrl-C and SIGTERM and returns the flag that it raises, upon which long-running commands stop
/// cleanly. A second signal ends the process immediately.
///
/// # Errors
/// The handler cannot be installed.
#[expect(clippy::disallowed_methods, reason = "a second signal ends the program at once")]
pub(crate) fn stop_on_signals() -> Result<&'static Stop, ctrlc::Error> {
    let stop = STOP.get_or_init(Stop::default);
    ctrlc::set_handler(|| {
        if stop.is_raised() {
            std::process::exit(130);
        }
        stop.raise();
        print_stderr("stopping cleanly; press Ctrl-C again to quit immediately");
    })?;
    Ok(stop)
}

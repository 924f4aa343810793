//! Lines on standard error.

use turnstone_base::terminal::print_stderr;

/// Prints a line on standard error.
pub(crate) fn note(text: &str) {
    print_stderr(text);
}

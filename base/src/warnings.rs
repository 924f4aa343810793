//! Warnings that a process prints once.

use std::sync::{Mutex, PoisonError};

/// Prints a warning on standard error, unless this process has printed it before. On WebAssembly nothing is printed.
pub fn warn_once(warning: &str) {
    static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !printed.iter().any(|known| known == warning) {
        printed.push(warning.to_owned());
        #[cfg(not(target_family = "wasm"))]
        crate::terminal::print_stderr(format_args!("warning: {warning}"));
    }
}

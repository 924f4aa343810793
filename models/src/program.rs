//! The program that writes files, as checkpoints, runs and tournaments record it.

use std::sync::OnceLock;

static PROGRAM: OnceLock<String> = OnceLock::new();

/// Name and version of the program that writes, with its commit where that is known: `turnstone 0.1.0 (ab12cd34
/// 2026-11-22)`.
#[must_use]
pub fn program() -> &'static str {
    PROGRAM.get().map_or(concat!("turnstone ", env!("CARGO_PKG_VERSION")), String::as_str)
}

/// Sets what [`program`] returns, which is name and version of the library otherwise. A program calls it before it
/// writes any file; later calls change nothing.
pub fn set_program(program: &str) {
    let _ = PROGRAM.set(program.to_owned());
}

//! The `turnstone` program with its built-in games.

use std::process::ExitCode;

/// The system's allocator gives large buffers back at every free and keeps small ones in a heap per thread; this one
/// reuses both.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    turnstone::Program::new().main()
}

//! The `turnstone` program with its built-in games.

use std::process::ExitCode;

/// The system's allocator returns large buffers to the system at every free and keeps small ones in a heap per thread;
/// mimalloc reuses both.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    turnstone::Program::new().main()
}

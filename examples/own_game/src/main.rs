//! The `turnstone` program with Connect Four beside the built-in games, and a kind of network beside the built-in ones.

use std::process::ExitCode;

use own_game::{ConnectFour, Overview};

/// Learning steps take a tenth longer with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    turnstone::Program::new().with::<ConnectFour>().with_network::<Overview>().main()
}

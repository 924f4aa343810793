//! The `turnstone` program with two games, a kind of network, a kind of agents and a target beside the built-in ones.

use std::process::ExitCode;

use own_game::{Careful, ConnectFour, Ending, Othello, Overview};

/// Learning steps take a tenth longer with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    turnstone::Program::new()
        .with::<ConnectFour>()
        .with::<Othello>()
        .with_network::<Overview>()
        .with_agent::<Careful>()
        .with_target::<Ending>()
        .main()
}

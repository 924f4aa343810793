//! The `turnstone` program with Connect Four beside the built-in games.

use std::process::ExitCode;

use own_game::ConnectFour;

fn main() -> ExitCode {
    turnstone::Program::new().with::<ConnectFour>().main()
}

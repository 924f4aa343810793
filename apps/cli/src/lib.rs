//! The `turnstone` program as a library, so that a crate with its own game gets all commands:
//!
//! ```no_run
//! # use turnstone_games::Mancala as MyGame;
//! fn main() -> std::process::ExitCode {
//!     turnstone::Program::new().with::<MyGame>().main()
//! }
//! ```
//!
//! `MyGame` implements [`turnstone_env::Rules`], and [`turnstone_agents::Playable`], which has defaults for everything. The
//! built-in games are added in the same way. So are kinds of networks and of agents, and targets: see [`Program`].

mod args;
mod signals;
pub mod output;
mod program_name;
mod cluster;
pub mod engine;
pub mod analysis;
pub mod export;
mod commands;
mod help;
mod usage;
mod cli;
mod program;
#[cfg(test)]
mod pages_tests;

pub use program::Program;
pub use program_name::PROGRAM;

/// The `main` of a program with these games beside the built-in ones, by the types that say what is known about them:
/// `turnstone::main!(my_game::MyGame);`.
#[macro_export]
macro_rules! main {
    ($($game:ty),+ $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::Program::new()$(.with::<$game>())+.main()
        }
    };
}

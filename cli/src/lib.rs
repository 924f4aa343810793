//! The `turnstone` program as a library, so that a crate with its own game gets all commands:
//!
//! ```no_run
//! # use turnstone_env::games::Mancala as MyGame;
//! fn main() -> std::process::ExitCode {
//!     turnstone::Program::new().with::<MyGame>().main()
//! }
//! ```
//!
//! `MyGame` implements [`turnstone_env::Game`], and [`turnstone_search::classic::Classical`],
//! [`turnstone_exact::Solvable`] and [`turnstone_agents::Playable`], which have defaults for everything. A kind of network
//! is added in the same way, by [`Program::with_network`].

mod args;
mod signals;
pub mod output;
#[cfg(feature = "cluster")]
mod cluster_args;
pub mod engine;
pub mod analysis;
pub mod pyro;
pub mod export;
mod commands;
mod help;
mod usage;
mod cli;
mod program;

pub use program::{Program, name_program};

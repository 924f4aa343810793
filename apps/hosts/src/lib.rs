//! Turnstone's agents in the programs that the built-in games come from.
//!
//! Each game's module has the functions of the game's source under their own names, over the rules of
//! [`turnstone_env::games`]; [`pyro`] plays in Pyro's Konane world over TCP. The program `turnstone-hosts` has a command
//! for each. The adapters in Python and shell are beside the crate's sources.

pub mod mu_torere;
pub mod mancala;
pub mod morris;
pub mod konane;
pub mod morabaraba;
pub mod pyro;
mod output;
mod commands;

pub use commands::run;

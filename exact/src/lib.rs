//! Exact values of games: solvers, their tables and the table files.
//!
//! Solvers run for seconds to minutes, report their [`Progress`] and may use several threads. Everything else in this
//! crate answers on the calling thread.

mod progress;
mod limits;
mod shared_table;
mod binomial;
mod values;
mod reachable;
mod unlimited;
mod mu_torere;
mod table_file;
mod stored;
pub mod morris;
mod mancala;
mod konane;
mod morabaraba;
mod solvable;

pub use konane::{KonaneSolver, KonaneValues};
pub use limits::SolveLimits;
pub use mancala::{MancalaEndgames, MancalaSolver, MancalaValues};
pub use morabaraba::MorabarabaEndgames;
pub use morris::MorrisTable;
pub use mu_torere::MuTorereValues;
pub use progress::{Progress, Silent};
pub use reachable::Solution;
pub use solvable::Solvable;
pub use table_file::{Section, TableError, TableFault, TableFile, TableIdentity, TableWriter};
pub use unlimited::Unlimited;
pub use values::ExactValues;

//! The exact truth of games that are small enough: solvers, their tables and the files these are kept in.

mod truth;
mod reachable;
mod table_file;
mod stored;
mod mancala;

pub use mancala::{MancalaEndgames, MancalaSolver, MancalaTruth};
pub use reachable::Solution;
pub use table_file::{Section, TableError, TableFault, TableFile, TableIdentity, TableWriter};
pub use truth::Truth;

//! Exact values of games: limits and progress of solvers, the tables that they share and write, solvers for any
//! game, by enumeration and by search, and certificates of agents. The solvers of the built-in games are in `turnstone-games`.
//!
//! Solvers run for seconds to minutes, report their [`Progress`] and may use several threads. Everything else in this
//! crate answers on the calling thread.

mod progress;
pub mod limits;
pub mod shared_table;
mod values;
mod reachable;
mod searched;
mod table_file;
mod table;
mod walk;
mod certificate;

pub use certificate::{Certificate, CertificateFault, Claim};
pub use limits::SolveLimits;
pub use progress::{Progress, Silent};
pub use reachable::{Solution, Unlimited};
pub use searched::Searched;
pub use table::{TableBytes, binomial};
pub use table_file::{Section, TableError, TableFault, TableFile, TableIdentity, TableWriter};
pub use values::{ExactValues, SharedSolver, Solver, WithoutCounters, best_by};
pub use walk::{Choose, Extent, IllegalMove, MOST_WALKED, MoveReader, Moves, Walk};

//! What is known about the built-in games besides their rules, which are in [`turnstone_env::games`].
//!
//! Each game has a module, and in it a type without values that implements [`Playable`](turnstone_agents::Playable). A
//! module's folder has the game's static evaluations, its exact solver, and the files that are compiled into programs:
//! ladder, graded positions, sheet and trained agent. Programs list the games by [`list!`].

#[macro_use]
mod trained;
mod benched;
mod mills;
pub mod mu_torere;
pub mod mancala;
pub mod morris;
pub mod konane;
pub mod morabaraba;
mod built_in;

#[doc(hidden)]
pub use turnstone_env::Games;

pub use benched::Benched;
pub use built_in::built_in;
pub use konane::Konane;
pub use mancala::Mancala;
pub use mills::Weights;
pub use morabaraba::Morabaraba;
pub use morris::Morris;
pub use mu_torere::MuTorere;

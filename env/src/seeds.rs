//! The functions that the games' sources name, under their names, for readers who come from there.
//!
//! They are written to the letter of the sources; the rooms in [`games`](crate::games) are the ones to play with. Tests
//! hold the two against each other.

pub mod konane;
pub mod mancala;
pub mod mu_torere;

pub use crate::games::morabaraba::seed as morabaraba;
pub use crate::games::morris::seed as morris;

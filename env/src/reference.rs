//! The functions that the games' sources name, under their names, for readers who come from there.
//!
//! They follow the sources to the letter; the games to play are in [`games`](crate::games). Tests compare the two.

pub mod konane;
pub mod mancala;
pub mod mu_torere;

pub use crate::games::morabaraba::reference as morabaraba;
pub use crate::games::morris::reference as morris;

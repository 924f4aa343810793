//! The functions that the games' sources name, under their names, for readers who come from there.
//!
//! They are written to the letter of the sources and independent of the rooms in [`games`](crate::games), which are the
//! ones to play with; tests hold the two against each other.

pub mod konane;
pub mod mancala;
pub mod mu_torere;

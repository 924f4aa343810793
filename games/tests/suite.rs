//! All tests of the built-in games in one program.

mod agents;
mod heuristics;
mod konane;
mod levels;
mod mancala;
mod morabaraba;
mod morris;
mod mu_torere;
mod sheets;

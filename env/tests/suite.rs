//! The games against their rules and each other. One program, so that what the tests share is compiled once.

mod conformance;
mod directions;
mod dynamic;
mod faults;
mod konane;
mod large_board;
mod mancala;
mod mill_text;
mod morabaraba;
mod morris;
mod parsers;
mod perft;
mod pictures;
mod text_checks;
mod vec_env;

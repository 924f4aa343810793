//! Searches in games of known value. One program, so that what the tests share is compiled once.

mod classic;
mod limits;
mod mcts;

//! Evaluation of the toy game.

use turnstone_env::toy::Toy;
use turnstone_env::{Outcome, Rules};

use super::Heuristic;

/// The margin of finished games, 0 for positions of running ones.
#[derive(Clone, Copy, Default, Debug)]
pub struct ToyMargin;

impl Heuristic<Toy> for ToyMargin {
    fn name(&self) -> &'static str {
        "margin"
    }

    fn estimate(&self, _: &Toy, _: &<Toy as Rules>::State) -> i32 {
        0
    }

    fn final_score(&self, _: &Toy, _: &<Toy as Rules>::State, outcome: &Outcome) -> i32 {
        i32::from(outcome.margin)
    }
}

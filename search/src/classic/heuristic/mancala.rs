//! Evaluations of Mancala.

use turnstone_env::games::{Mancala, mancala};
use turnstone_env::{Outcome, Side};

use super::{Classical, Heuristic, WinLoss};

/// Stones in one's store minus stones in the opponent's, also for finished games: the evaluation E(p) of CSE 140,
/// assignment 3. Its ties go to the first pit in board order, which is the order of the actions.
#[derive(Clone, Copy, Default, Debug)]
pub struct StoreDifference;

impl Heuristic<Mancala> for StoreDifference {
    fn name(&self) -> &'static str {
        "store_difference"
    }

    fn estimate(&self, game: &Mancala, state: &mancala::State) -> i32 {
        stores(game, state)
    }

    fn final_score(&self, _: &Mancala, _: &mancala::State, outcome: &Outcome) -> i32 {
        i32::from(outcome.margin)
    }
}

fn stores(game: &Mancala, state: &mancala::State) -> i32 {
    i32::from(game.store(state, Side::First)) - i32::from(game.store(state, Side::Second))
}

impl Classical for Mancala {
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(StoreDifference), Box::new(WinLoss)]
    }
}

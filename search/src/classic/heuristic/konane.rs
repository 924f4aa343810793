//! Evaluations of Konane.

use turnstone_env::Side;
use turnstone_env::games::{Konane, konane};

use super::{Classical, Heuristic, WinLoss};

/// Jumps that the first side has, or would have if it were its turn, minus the second side's; every prefix of a longer
/// jump counts, as it is an action. The unit is one jump.
#[derive(Clone, Copy, Default, Debug)]
pub struct Mobility;

impl Heuristic<Konane> for Mobility {
    fn name(&self) -> &'static str {
        "mobility"
    }

    fn estimate(&self, game: &Konane, state: &konane::State) -> i32 {
        let [first, second] = Side::BOTH.map(|side| game.mobility(state, side).jumps as i32);
        first - second
    }
}

/// Stones of the first side that can jump minus those of the second side. The unit is one stone.
#[derive(Clone, Copy, Default, Debug)]
pub struct MovableStones;

impl Heuristic<Konane> for MovableStones {
    fn name(&self) -> &'static str {
        "movable_stones"
    }

    fn estimate(&self, game: &Konane, state: &konane::State) -> i32 {
        let [first, second] = Side::BOTH.map(|side| game.mobility(state, side).stones as i32);
        first - second
    }
}

impl Classical for Konane {
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(Mobility), Box::new(MovableStones), Box::new(WinLoss)]
    }
}

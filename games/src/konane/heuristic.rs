//! Evaluations of Konane.

use turnstone_env::Side;
use turnstone_env::games::{Konane, konane};

use turnstone_search::classic::Heuristic;

/// Jumps that the first side has, or would have if it were its turn, minus the second side's; every prefix of a longer
/// jump counts, as it is an action. The unit is one jump.
#[derive(Clone, Copy, Default, Debug)]
pub struct Mobility;

impl Heuristic<Konane> for Mobility {
    fn name(&self) -> &'static str {
        "mobility"
    }

    fn lead(&self) -> f32 {
        12.0
    }

    fn estimate(&self, game: &Konane, state: &konane::State) -> i32 {
        let [first, second] = Side::BOTH.map(|side| game.mobility(state, side).jumps as i32);
        first - second
    }
}

/// Twice the difference of [`Mobility`] plus the difference of the stones that can jump: a jump counts more if it is
/// not one of many of the same stone. The unit is half a jump.
#[derive(Clone, Copy, Default, Debug)]
pub struct JumpsAndStones;

impl Heuristic<Konane> for JumpsAndStones {
    fn name(&self) -> &'static str {
        "jumps_and_stones"
    }

    fn lead(&self) -> f32 {
        20.0
    }

    fn estimate(&self, game: &Konane, state: &konane::State) -> i32 {
        let [first, second] = Side::BOTH.map(|side| {
            let mobility = game.mobility(state, side);
            2 * mobility.jumps as i32 + mobility.stones as i32
        });
        first - second
    }
}

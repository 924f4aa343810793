//! Evaluations of Morabaraba.

use turnstone_env::Side;
use turnstone_env::games::{Morabaraba, morabaraba};

use crate::mills::{MillGame, Mills, Position, Weights};
use turnstone_search::classic::Heuristic;

/// Cows shot minus cows lost, the contest's score: the unit is one cow.
#[derive(Clone, Copy, Default, Debug)]
pub struct ScoreDifference;

impl Heuristic<Morabaraba> for ScoreDifference {
    fn name(&self) -> &'static str {
        "score_difference"
    }

    fn lead(&self) -> f32 {
        0.6
    }

    fn estimate(&self, game: &Morabaraba, state: &morabaraba::State) -> i32 {
        let [first, second] = Side::BOTH.map(|side| game.score(state, side) as i32);
        first - second
    }
}

/// The weights of [`Mills`]; a cow is a hundred.
pub const MILLS: Mills = Mills(Weights {
    piece: 100,
    mill: 10,
    open_line: 10,
    threat: 10,
    double_mill: 20,
    mobility: 4,
    blocked: 5,
    tempo: 32,
});

impl MillGame for Morabaraba {
    fn position(state: &morabaraba::State) -> Position {
        Position {
            mills: morabaraba::mills(),
            near: morabaraba::neighbours(),
            pieces: Side::BOTH.map(|side| state.cows(side)),
            hands: Side::BOTH.map(|side| state.in_hand(side)),
        }
    }
}

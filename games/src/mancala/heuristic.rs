//! Evaluations of Mancala.

use turnstone_env::games::{Mancala, mancala};
use turnstone_env::{Outcome, Rules, Side};

use turnstone_search::classic::Heuristic;

/// Stones in one's store minus stones in the opponent's, also for finished games: the evaluation E(p) of CSE 140,
/// assignment 3. Its ties go to the first pit in board order, which is the order of the actions.
#[derive(Clone, Copy, Default, Debug)]
pub struct StoreDifference;

impl Heuristic<Mancala> for StoreDifference {
    fn name(&self) -> &'static str {
        "store_difference"
    }

    fn lead(&self) -> f32 {
        4.5
    }

    fn estimate(&self, game: &Mancala, state: &mancala::State) -> i32 {
        i32::from(game.store(state, Side::First)) - i32::from(game.store(state, Side::Second))
    }

    fn final_score(&self, _: &Mancala, _: &mancala::State, outcome: &Outcome) -> i32 {
        i32::from(outcome.margin)
    }
}

/// Stores, and what they are likely to get next, in tenths of a stone: for the first side minus the second,
/// `10 store + 2 row + 5 extra + 2 capture`, and 12 for the mover, where *row* is the stones in the side's pits, *extra* the
/// number of its pits that end in its store and give another turn, and *capture* the stones opposite to its empty pits
/// that one of its pits reaches (without a lap). A store with more than half of all stones has won.
#[derive(Clone, Copy, Default, Debug)]
pub struct Prospects;

impl Prospects {
    const STORE: i32 = 10;
    const ROW: i32 = 2;
    const EXTRA: i32 = 5;
    const CAPTURE: i32 = 2;
    const TEMPO: i32 = 12;
    /// More than all else together: 255 stones in a store are 2550.
    const DECIDED: i32 = 100_000;

    fn side(game: &Mancala, state: &mancala::State, side: Side) -> i32 {
        let (row, opposite) = (game.row(state, side), game.row(state, side.other()));
        let store = game.store(state, side);
        let decided = if 2 * u16::from(store) > game.total() { Self::DECIDED } else { 0 };
        let mut score = decided + Self::STORE * i32::from(store);
        for (pit, &stones) in row.iter().enumerate() {
            score += Self::ROW * i32::from(stones);
            let last = pit + usize::from(stones);
            if last == row.len() {
                score += Self::EXTRA;
            } else if stones > 0 && last < row.len() && row[last] == 0 {
                score += Self::CAPTURE * i32::from(opposite[row.len() - 1 - last]);
            }
        }
        score
    }
}

impl Heuristic<Mancala> for Prospects {
    fn name(&self) -> &'static str {
        "prospects"
    }

    fn lead(&self) -> f32 {
        55.0
    }

    fn estimate(&self, game: &Mancala, state: &mancala::State) -> i32 {
        let tempo = if game.mover(state) == Side::First { Self::TEMPO } else { -Self::TEMPO };
        Self::side(game, state, Side::First) - Self::side(game, state, Side::Second) + tempo
    }
}

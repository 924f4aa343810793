//! Static evaluations of positions.

pub mod toy;

use std::ops::Deref;

use turnstone_env::{Outcome, Rules};

/// The score of a won game unless a heuristic defines another. Greater than any static estimate.
pub const WON: i32 = 1_000_000;

/// Scores within this distance of a won game's are wins: searches subtract one for each ply to the win.
pub const WIN_BAND: i32 = 256;

/// A static evaluation of positions, in units of its own, for the first side.
pub trait Heuristic<G: Rules>: Send + Sync {
    /// The name in agent specs and tables.
    fn name(&self) -> &'static str;

    /// The estimate of a running position for the first side.
    fn estimate(&self, game: &G, state: &G::State) -> i32;

    /// The score of a finished game for the first side.
    fn final_score(&self, _game: &G, _state: &G::State, outcome: &Outcome) -> i32 {
        i32::from(outcome.value()) * self.won()
    }

    /// The score of a won game, if it is the same for all of them.
    fn won(&self) -> i32 {
        WON
    }

    /// The lead that wins about three games of four, in the heuristic's units: the scale that maps scores to probabilities
    /// of winning. For display only.
    fn lead(&self) -> f32 {
        1.0
    }
}

/// A reference or a box to a heuristic is one.
impl<G: Rules, P: Deref<Target: Heuristic<G>> + Send + Sync> Heuristic<G> for P {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    #[inline]
    fn estimate(&self, game: &G, state: &G::State) -> i32 {
        (**self).estimate(game, state)
    }

    #[inline]
    fn final_score(&self, game: &G, state: &G::State, outcome: &Outcome) -> i32 {
        (**self).final_score(game, state, outcome)
    }

    fn won(&self) -> i32 {
        (**self).won()
    }

    fn lead(&self) -> f32 {
        (**self).lead()
    }
}

/// The result of finished games, and 0 for running ones: the evaluation of the Mu Torere notebook's minimax.
#[derive(Clone, Copy, Default, Debug)]
pub struct WinLoss;

impl<G: Rules> Heuristic<G> for WinLoss {
    fn name(&self) -> &'static str {
        "win_loss"
    }

    fn estimate(&self, _: &G, _: &G::State) -> i32 {
        0
    }
}

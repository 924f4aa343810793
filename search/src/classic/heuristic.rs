//! Static evaluations, and which of them a game is played with by default.

use turnstone_env::games::{Konane, Mancala, Morabaraba, Morris, MuTorere, mancala};
use turnstone_env::toy::Toy;
use turnstone_env::{Game, Outcome, Side};

/// Greater than any static estimate: the score of a won game where the heuristic does not say otherwise.
pub const WON: i32 = 1_000_000;

/// A static evaluation of positions, in units of its own, for the first side.
pub trait Heuristic<G: Game>: Send + Sync {
    /// The name in agent specs and tables.
    fn name(&self) -> &'static str;

    /// The estimate of a running position for the first side.
    fn estimate(&self, game: &G, state: &G::State) -> i32;

    /// The score of a finished game for the first side.
    fn final_score(&self, _game: &G, _state: &G::State, outcome: &Outcome) -> i32 {
        i32::from(outcome.value()) * WON
    }
}

/// Nothing but the result of finished games: the evaluation of the Mu Torere notebook's depth-limited minimax.
#[derive(Clone, Copy, Default, Debug)]
pub struct WinLoss;

impl<G: Game> Heuristic<G> for WinLoss {
    fn name(&self) -> &'static str {
        "win_loss"
    }

    fn estimate(&self, _: &G, _: &G::State) -> i32 {
        0
    }
}

/// Stones in one's store minus stones in the opponent's, also for finished games: the evaluation E(p) of CSE 140,
/// assignment 3. Its ties go to the first pit in board order, which is the order of the actions.
#[derive(Clone, Copy, Default, Debug)]
pub struct StoreDifference;

impl Heuristic<Mancala> for StoreDifference {
    fn name(&self) -> &'static str {
        "store_difference"
    }

    fn estimate(&self, game: &Mancala, state: &mancala::State) -> i32 {
        i32::from(game.store(state, Side::First)) - i32::from(game.store(state, Side::Second))
    }

    fn final_score(&self, _: &Mancala, _: &mancala::State, outcome: &Outcome) -> i32 {
        i32::from(outcome.margin)
    }
}

/// The margin of finished games of the toy.
#[derive(Clone, Copy, Default, Debug)]
pub struct ToyMargin;

impl Heuristic<Toy> for ToyMargin {
    fn name(&self) -> &'static str {
        "margin"
    }

    fn estimate(&self, _: &Toy, _: &<Toy as Game>::State) -> i32 {
        0
    }

    fn final_score(&self, _: &Toy, _: &<Toy as Game>::State, outcome: &Outcome) -> i32 {
        i32::from(outcome.margin)
    }
}

/// A game with static evaluations of its own.
pub trait Classical: Game {
    /// Its evaluations, the default first.
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>>;
}

impl Classical for MuTorere {
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(WinLoss)]
    }
}

impl Classical for Mancala {
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(StoreDifference), Box::new(WinLoss)]
    }
}

impl Classical for Morris {
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(WinLoss)]
    }
}

impl Classical for Konane {
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(WinLoss)]
    }
}

impl Classical for Morabaraba {
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(WinLoss)]
    }
}

impl Classical for Toy {
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(ToyMargin)]
    }
}

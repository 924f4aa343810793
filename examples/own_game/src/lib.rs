//! Connect Four for Turnstone: rules, a heuristic, an exact solver, a kind of network and a target. Beside it Othello, in one file.

mod careful;
mod game;
mod heuristic;
mod solver;
mod network;
mod othello;
#[cfg(feature = "program")]
mod ending;

pub use careful::Careful;
#[cfg(feature = "program")]
pub use ending::Ending;
pub use game::{ConnectFour, State};
pub use heuristic::OpenLines;
pub use network::Overview;
pub use othello::{Mobility, Othello};
pub use solver::{SolvedValues, Solver};

use std::path::Path;

use turnstone_agents::{Effort, GameFiles, Phase, Playable};
use turnstone_exact::{ExactValues, TableError};
use turnstone_search::classic::{Heuristic, WinLoss};

impl Playable for ConnectFour {
    type Game = Self;

    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(OpenLines), Box::new(WinLoss)]
    }

    fn exact_values(
        _: &Self,
        _tables: &Path,
        effort: Effort,
    ) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        Ok(Some(Box::new(SolvedValues::from(effort))))
    }

    /// By thirds of the board: fewer than 14 discs, fewer than 28, more.
    fn phase(_: &Self, state: &State) -> Phase {
        match state.count() {
            0..14 => Phase::Opening,
            14..28 => Phase::Midgame,
            _ => Phase::Endgame,
        }
    }

    fn files() -> GameFiles {
        GameFiles { ladder: Some(include_str!("../ladder.toml")), ..GameFiles::default() }
    }
}

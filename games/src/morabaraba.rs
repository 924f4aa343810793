//! Morabaraba: static evaluations, and tables of endgames.

pub mod heuristic;
mod solver;
mod solve;

pub use solver::MorabarabaEndgames;

use std::path::Path;

use turnstone_agents::{Effort, GameFiles, Phase, Playable, SolveError, SolveHost, SolveOptions};
use turnstone_env::Side;
use turnstone_env::games::{self, morabaraba::State};
use turnstone_exact::{ExactValues, TableError};
use turnstone_search::classic::{Heuristic, WinLoss};

use heuristic::{MILLS, ScoreDifference};

/// What is known about [Morabaraba](games::Morabaraba).
#[derive(Clone, Copy, Debug)]
pub struct Morabaraba;

impl Playable for Morabaraba {
    type Game = games::Morabaraba;

    fn heuristics() -> Vec<Box<dyn Heuristic<Self::Game>>> {
        vec![Box::new(MILLS), Box::new(ScoreDifference), Box::new(WinLoss)]
    }

    fn exact_values(
        game: &Self::Game,
        tables: &Path,
        _: Effort,
    ) -> Result<Option<Box<dyn ExactValues<Self::Game>>>, TableError> {
        Ok(Some(Box::new(MorabarabaEndgames::open(game, tables)?)))
    }

    fn solve(
        game: &Self::Game,
        position: Option<&State>,
        options: &SolveOptions<'_>,
        host: &dyn SolveHost,
    ) -> Result<bool, SolveError> {
        solve::solve(game, position, options, host)
    }

    /// While cows are placed, while all move along lines, and once a player flies.
    fn phase(_: &Self::Game, state: &State) -> Phase {
        if Side::BOTH.iter().any(|&side| state.in_hand(side) > 0) {
            Phase::Opening
        } else if Side::BOTH.iter().any(|&side| state.cows(side).count_ones() <= 3) {
            Phase::Endgame
        } else {
            Phase::Midgame
        }
    }

    fn files() -> GameFiles {
        GameFiles {
            ladder: Some(include_str!("morabaraba/ladder.toml")),
            truth_set: outside_pages!(include_str!("morabaraba/truth.txt")), // endgames
            pretrained: outside_pages!(include_bytes!("morabaraba/agent.safetensors")),
            book: None,
            certificates: &[],
            sheet: Some(include_str!("morabaraba/sheet.md")),
        }
    }
}

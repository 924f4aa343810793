//! Morris: static evaluations, and the strong solution as a table.

pub mod heuristic;
pub mod solver;
mod solve;

pub use solver::MorrisTable;

use std::path::Path;

use turnstone_agents::{Effort, GameFiles, Playable, SolveError, SolveHost, SolveOptions};
use turnstone_env::games::{self, morris::State};
use turnstone_exact::{ExactValues, TableError};
use turnstone_search::classic::{Heuristic, WinLoss};

use heuristic::{MILLS, MidgameEndgame, Opening, StaticEstimation};

/// What is known about [Morris](games::Morris).
#[derive(Clone, Copy, Debug)]
pub struct Morris;

impl Playable for Morris {
    type Game = games::Morris;

    fn heuristics() -> Vec<Box<dyn Heuristic<Self::Game>>> {
        vec![
            Box::new(MILLS),
            Box::new(StaticEstimation),
            Box::new(Opening),
            Box::new(MidgameEndgame),
            Box::new(WinLoss),
        ]
    }

    fn exact_values(
        game: &Self::Game,
        tables: &Path,
        _: Effort,
    ) -> Result<Option<Box<dyn ExactValues<Self::Game>>>, TableError> {
        let table = MorrisTable::open(game, &tables.join(MorrisTable::file_name(game)))?;
        table.verify()?;
        Ok(Some(Box::new(table)))
    }

    fn solve(
        game: &Self::Game,
        position: Option<&State>,
        options: &SolveOptions<'_>,
        host: &dyn SolveHost,
    ) -> Result<bool, SolveError> {
        if position.is_some() {
            return Err(SolveError::fault("morris is solved whole, so no position can be given"));
        }
        solve::solve(game, options, host)
    }

    fn files() -> GameFiles {
        GameFiles {
            ladder: Some(include_str!("morris/ladder.toml")),
            truth_set: outside_pages!(include_str!("morris/truth.txt")),
            pretrained: outside_pages!(include_bytes!("morris/agent.safetensors")),
            sheet: Some(include_str!("morris/sheet.md")),
        }
    }
}

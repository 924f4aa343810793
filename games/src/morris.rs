//! Morris: static evaluations, and the strong solution as a table.

pub mod heuristic;
pub mod solver;
mod solve;

pub use solver::MorrisTable;

use std::path::Path;

use turnstone_agents::{Effort, GameFiles, Phase, Playable, SolveError, SolveHost, SolveOptions};
use turnstone_env::Side;
use turnstone_env::games::{self, morris::State};
use turnstone_exact::{ExactValues, TableError, WithoutCounters};
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
        Ok(Some(Box::new(WithoutCounters { truth: table, reset: State::without_counters })))
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

    /// While pieces are placed, while all move along lines, and once a player hops.
    fn phase(_: &Self::Game, state: &State) -> Phase {
        if Side::BOTH.iter().any(|&side| state.in_hand(side) > 0) {
            Phase::Opening
        } else if Side::BOTH.iter().any(|&side| state.pieces(side).count_ones() <= 3) {
            Phase::Endgame
        } else {
            Phase::Midgame
        }
    }

    fn without_counters(state: &State) -> State {
        state.without_counters()
    }

    fn files() -> GameFiles {
        GameFiles {
            ladder: Some(include_str!("morris/ladder.toml")),
            truth_set: outside_pages!(include_str!("morris/truth.txt")),
            pretrained: outside_pages!(include_bytes!("morris/agent.safetensors")),
            book: None,
            certificates: &[],
            sheet: Some(include_str!("morris/sheet.md")),
        }
    }
}

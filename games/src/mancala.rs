//! Mancala: static evaluations, and exact values by search over a table of endgames.

pub mod heuristic;
mod solver;
mod solve;

pub use heuristic::StoreDifference;
pub use solver::{MancalaEndgames, MancalaSolver, MancalaValues};
use turnstone_base::machine::cores;

use std::path::Path;

use turnstone_agents::{Effort, GameFiles, Phase, Playable, SolveError, SolveHost, SolveOptions};
use turnstone_env::Side;
use turnstone_env::games::{self, mancala::State};
use turnstone_exact::{ExactValues, SharedSolver, SolveLimits, TableError};
use turnstone_search::classic::{Heuristic, WinLoss};

use heuristic::Prospects;

/// What is known about [Mancala](games::Mancala).
#[derive(Clone, Copy, Debug)]
pub struct Mancala;

/// Entries of the transposition table: about 100 MB.
const ENTRIES: usize = 1 << 22;
/// Maximum number of nodes per position, and entries of the transposition table, of [`Effort::Quick`].
const QUICK_NODES: u64 = 10_000;
const QUICK_ENTRIES: usize = 1 << 12;

impl Playable for Mancala {
    type Game = games::Mancala;

    fn heuristics() -> Vec<Box<dyn Heuristic<Self::Game>>> {
        vec![Box::new(StoreDifference), Box::new(Prospects), Box::new(WinLoss)]
    }

    fn exact_values(
        game: &Self::Game,
        tables: &Path,
        effort: Effort,
    ) -> Result<Option<Box<dyn ExactValues<Self::Game>>>, TableError> {
        let endgames = MancalaEndgames::open(game, &tables.join(MancalaEndgames::file_name(game)))?;
        let solver = |entries| MancalaSolver::new(game, Some(endgames), entries);
        Ok(Some(Box::new(MancalaValues(match effort {
            Effort::Full => SharedSolver::new(solver(ENTRIES), SolveLimits::NONE.with_threads(cores())),
            Effort::Quick => SharedSolver::forgetting(solver(QUICK_ENTRIES), SolveLimits::nodes(QUICK_NODES)),
            // Nothing is searched, and nothing remembered.
            Effort::Patient(limits) if limits.nodes == 0 => SharedSolver::new(solver(2), limits),
            Effort::Patient(limits) if limits.nodes < u64::MAX => {
                SharedSolver::forgetting(solver(ENTRIES), limits.with_threads(1))
            }
            Effort::Patient(limits) => SharedSolver::new(solver(ENTRIES), limits),
        }))))
    }

    fn solve(
        game: &Self::Game,
        position: Option<&State>,
        options: &SolveOptions<'_>,
        host: &dyn SolveHost,
    ) -> Result<bool, SolveError> {
        solve::solve(game, position, options, host)
    }

    /// By the share of all stones that is still in the pits: more than two thirds, more than one third, less.
    fn phase(game: &Self::Game, state: &State) -> Phase {
        let stored: u16 = Side::BOTH.iter().map(|&side| u16::from(game.store(state, side))).sum();
        Phase::by_parts_left(usize::from(1 + 3 * (game.total() - stored) / game.total()))
    }

    fn files() -> GameFiles {
        GameFiles {
            ladder: Some(include_str!("mancala/ladder.toml")),
            truth_set: outside_pages!(include_str!("mancala/truth.txt")),
            pretrained: outside_pages!(include_bytes!("mancala/agent.safetensors")),
            book: outside_pages!(include_str!("mancala/pretrained.book")),
            certificates: certificates!("mancala/player-1.proof"),
            sheet: Some(include_str!("mancala/sheet.md")),
        }
    }
}

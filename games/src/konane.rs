//! Konane: static evaluations, and exact values by search.

pub mod heuristic;
mod solver;

pub use solver::{KonaneSolver, KonaneValues};
use turnstone_base::machine::cores;

use std::path::Path;

use turnstone_agents::{
    Effort, GameFiles, Phase, Playable, SolveError, SolveHost, SolveOptions, no_tables, result_text, searched,
};
use turnstone_env::games::{self, konane::State};
use turnstone_env::{Notation, Rules, Side};
use turnstone_exact::{ExactValues, SharedSolver, SolveLimits, TableError};
use turnstone_search::classic::{Heuristic, WinLoss};

use heuristic::{JumpsAndStones, Mobility};

/// What is known about [Konane](games::Konane).
#[derive(Clone, Copy, Debug)]
pub struct Konane;

/// Maximum number of nodes per position: some seconds.
const MOST_NODES: u64 = 10_000_000;
/// Entries of the transposition table: about 100 MB, and of that of `solve`: 256 MB.
const ENTRIES: usize = 1 << 22;
const SOLVE_ENTRIES: usize = 1 << 23;
/// Maximum number of nodes per position, and entries of the transposition table, of [`Effort::Quick`].
const QUICK_NODES: u64 = 10_000;
const QUICK_ENTRIES: usize = 1 << 12;
/// Maximum number of nodes per position for a player by default, about a second, and entries of the table.
const PLAYED_NODES: u64 = 500_000;
const PLAYED_ENTRIES: usize = 1 << 18;
/// The largest board that is covered completely, within half a minute.
const WHOLE: usize = 6;

impl Playable for Konane {
    type Game = games::Konane;

    fn heuristics() -> Vec<Box<dyn Heuristic<Self::Game>>> {
        vec![Box::new(JumpsAndStones), Box::new(Mobility), Box::new(WinLoss)]
    }

    fn exact_values(
        game: &Self::Game,
        _: &Path,
        effort: Effort,
    ) -> Result<Option<Box<dyn ExactValues<Self::Game>>>, TableError> {
        if game.size() > KonaneSolver::MAX_SIZE {
            return Ok(None);
        }
        let whole = game.size() <= WHOLE;
        let searched =
            |nodes| SharedSolver::new(KonaneSolver::new(ENTRIES), SolveLimits::nodes(nodes).with_threads(cores()));
        Ok(Some(Box::new(KonaneValues(match effort {
            _ if whole => searched(u64::MAX),
            Effort::Full => searched(MOST_NODES),
            Effort::Quick => {
                SharedSolver::forgetting(KonaneSolver::new(QUICK_ENTRIES), SolveLimits::nodes(QUICK_NODES))
            }
            Effort::Patient(limits) => patient(&limits),
        }))))
    }

    fn solve(
        game: &Self::Game,
        position: Option<&State>,
        options: &SolveOptions<'_>,
        host: &dyn SolveHost,
    ) -> Result<bool, SolveError> {
        let name = game.spec().name;
        options.confirm_used(name, true, false)?;
        if options.tables_only {
            return Ok(no_tables(name, host));
        }
        let state = position.copied().unwrap_or_else(|| game.start());
        let (size, most) = (game.size(), KonaneSolver::MAX_SIZE);
        if size > most {
            return Err(SolveError::Fault(format!("boards up to {most} x {most} are solved, not {size} x {size}")));
        }
        let solver = KonaneSolver::new(SOLVE_ENTRIES);
        let winner = searched(host, || (solver.winner(game, &state, &options.limits()), solver.nodes()))?;
        let value = if winner == Side::First { 1 } else { -1 };
        host.answer(&format!("{}: {}", game.position_text(&state), result_text(value)));
        Ok(true)
    }

    /// By the share of the cells with a stone: three quarters or more, half or more, less.
    fn phase(game: &Self::Game, state: &State) -> Phase {
        Phase::by_parts_left(4 * state.stones() / (game.size() * game.size()))
    }

    fn files() -> GameFiles {
        GameFiles {
            ladder: Some(include_str!("konane/ladder.toml")),
            truth_set: outside_pages!(include_str!("konane/truth.txt")), // endgames
            pretrained: outside_pages!(include_bytes!("konane/agent.safetensors")),
            book: None,
            certificates: &[],
            sheet: Some(include_str!("konane/sheet.md")),
        }
    }
}

/// [`Effort::Patient`] on boards that are not covered completely.
fn patient(limits: &SolveLimits) -> SharedSolver<KonaneSolver> {
    if limits.nodes == 0 {
        return SharedSolver::new(KonaneSolver::new(2), *limits);
    }
    // Without a limit the opening would be searched without end.
    let unlimited = limits.nodes == u64::MAX && limits.time.is_none();
    let limits = if unlimited { SolveLimits::nodes(PLAYED_NODES) } else { *limits };
    if limits.nodes < u64::MAX {
        SharedSolver::forgetting(KonaneSolver::new(PLAYED_ENTRIES), limits.with_threads(1))
    } else {
        SharedSolver::new(KonaneSolver::new(ENTRIES), limits)
    }
}

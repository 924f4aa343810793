//! Specs of the agents with a classical search.

mod search;

pub(crate) use search::{ClassicalChooser, ClassicalSearch};
use turnstone_base::machine::Memory;

use std::time::Duration;

use turnstone_env::Rules;
use turnstone_search::classic::{Heuristic, MAX_DEPTH};

use crate::playable::Playable;
use crate::threads::Threads;

/// Default size of the transposition table of an iterative deepening search, in MiB.
pub(crate) const TABLE: u32 = 64;

/// Spec of a classical search with a static evaluation.
#[derive(Clone, Debug)]
pub struct ClassicalSpec {
    /// Search algorithm and its limits.
    pub method: ClassicalMethod,
    /// Name of the static evaluation; the game's first one if `None`.
    pub heuristic: Option<String>,
    /// Threads of one search; several need a table.
    pub threads: Threads,
}

/// Search algorithm of a classical agent.
#[derive(Clone, Debug)]
pub enum ClassicalMethod {
    /// Plain minimax.
    Minimax {
        /// Depth in plies.
        depth: u32,
    },
    /// Alpha-beta to a fixed depth; chooses the same action as minimax, with or without the table.
    FixedDepth {
        /// Depth in plies.
        depth: u32,
        /// Size of the transposition table in MiB; 0 disables it.
        table: u32,
    },
    /// Alpha-beta with iterative deepening until a limit is reached.
    Deepening {
        /// Maximum depth in plies.
        depth: Option<u32>,
        /// Maximum number of positions visited.
        nodes: Option<u32>,
        /// Time per move.
        time: Option<Duration>,
        /// Size of the transposition table in MiB; 0 disables it.
        table: u32,
    },
    /// Breadth-first search, as in the Konane exercise, where it looks two plies ahead.
    BreadthFirst {
        /// Depth in plies.
        depth: u32,
    },
    /// Best-first search in the manner of A*.
    BestFirst {
        /// Number of positions to evaluate.
        nodes: u32,
    },
}

impl ClassicalSpec {
    /// Size of the transposition table in MiB.
    pub(crate) fn table(&self) -> u32 {
        match self.method {
            ClassicalMethod::FixedDepth { table, .. } | ClassicalMethod::Deepening { table, .. } => table,
            _ => 0,
        }
    }
}

impl ClassicalMethod {
    /// Maximum depth in plies.
    fn depth(&self) -> u32 {
        match self {
            Self::Minimax { depth } | Self::FixedDepth { depth, .. } | Self::BreadthFirst { depth } => *depth,
            Self::Deepening { depth, .. } => depth.unwrap_or(MAX_DEPTH),
            Self::BestFirst { .. } => MAX_DEPTH,
        }
    }
}

/// Checks a transposition table of `table` MiB.
///
/// # Errors
/// It is larger than three quarters of the memory, where that is known.
pub(crate) fn check_table(table: u32, memory: Option<Memory>) -> Result<(), String> {
    match memory.map(|memory| memory.total >> 20) {
        Some(mebibytes) if u64::from(table) > mebibytes / 4 * 3 => {
            Err(format!("hash={table}: a table of {table} MiB is too large for the {mebibytes} MiB of memory"))
        }
        _ => Ok(()),
    }
}

/// Index of the static evaluation `name` in `known`, or 0 without a name; an error names the game's evaluations.
pub(crate) fn check_heuristic(name: Option<&str>, game: &str, known: &[&str]) -> Result<usize, String> {
    match name {
        None if known.is_empty() => Err(format!("{game} has no heuristic")),
        None => Ok(0),
        Some(name) => {
            let fault = || format!("{game} has no heuristic `{name}`; it has {}", known.join(", "));
            known.iter().position(|known| *known == name).ok_or_else(fault)
        }
    }
}

/// The game's static evaluation of this name, or its first one without a name.
pub(crate) fn find_heuristic<K: Playable>(
    game: &K::Game,
    name: Option<&str>,
) -> Result<Box<dyn Heuristic<K::Game>>, String> {
    let mut all = K::heuristics();
    let names: Vec<&str> = all.iter().map(Heuristic::name).collect();
    check_heuristic(name, game.spec().name, &names).map(|i| all.swap_remove(i))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_must_fit_into_memory() {
        let memory = Some(Memory { total: 24_000 << 20, available: 0 });
        assert_eq!(check_table(18_000, memory), Ok(()));
        assert!(check_table(18_001, memory).is_err_and(|fault| fault.contains("24000 MiB of memory")));
        assert_eq!(check_table(65_536, None), Ok(()));
    }
}

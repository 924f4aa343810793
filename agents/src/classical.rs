//! The agents with a classical search: their specs.

mod search;
mod erased;

pub use erased::DynSearch;
pub(crate) use erased::WithGame;
pub(crate) use search::ClassicalPlayer;
pub use search::ClassicalSearch;

use std::fmt;
use std::time::Duration;

use turnstone_search::classic::{Classical, Heuristic, MAX_DEPTH, MOST_POSITIONS};

use crate::options::{Options, time_text};

/// The names of these agents.
pub(crate) const NAMES: [&str; 4] = ["minimax", "alphabeta", "breadthfirst", "bestfirst"];

/// Table of a search that deepens, in MiB, where the spec does not say.
const TABLE: u32 = 64;
const LARGEST_TABLE: u32 = 65_536;

/// A classical search with its static evaluation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ClassicalSpec {
    /// How it searches.
    pub method: ClassicalMethod,
    /// Static evaluation by name; the game's first one if absent.
    pub heuristic: Option<String>,
}

/// How a classical agent searches.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ClassicalMethod {
    /// Plain minimax.
    Minimax {
        /// Plies to look ahead.
        depth: u32,
    },
    /// Alpha-beta to a fixed depth; chooses what minimax chooses, the table makes no difference.
    FixedDepth {
        /// Plies to look ahead.
        depth: u32,
        /// Size of the table of positions in MiB; 0 is none.
        table: u32,
    },
    /// Alpha-beta that deepens until a limit is reached.
    Deepening {
        /// Plies to look ahead at most.
        depth: Option<u32>,
        /// Positions to visit at most.
        nodes: Option<u32>,
        /// Time for a move.
        time: Option<Duration>,
        /// Time for all moves of a game together.
        total: Option<Duration>,
        /// Size of the table of positions in MiB; 0 is none.
        table: u32,
    },
    /// Breadth-first search, two plies in the Konane exercise.
    BreadthFirst {
        /// Levels of positions.
        depth: u32,
    },
    /// Best-first search in the manner of A*.
    BestFirst {
        /// Positions to evaluate.
        nodes: u32,
    },
}

impl ClassicalSpec {
    pub(crate) fn parse(name: &str, options: &mut Options) -> Result<Self, String> {
        let depths = 1..=MAX_DEPTH;
        let method = match name {
            "minimax" => ClassicalMethod::Minimax { depth: options.number("depth", depths)?.unwrap_or(6) },
            "breadthfirst" => ClassicalMethod::BreadthFirst { depth: options.number("depth", depths)?.unwrap_or(2) },
            "bestfirst" => {
                let most = MOST_POSITIONS as u32;
                ClassicalMethod::BestFirst { nodes: options.number("nodes", 1..=most)?.unwrap_or(1000) }
            }
            _ => Self::parse_alphabeta(options)?,
        };
        Ok(Self { method, heuristic: options.take("heuristic") })
    }

    fn parse_alphabeta(options: &mut Options) -> Result<ClassicalMethod, String> {
        let depth = options.number("depth", 1..=MAX_DEPTH)?;
        let nodes = options.number("nodes", 1..=u32::MAX)?;
        let (time, total) = (options.time("time")?, options.time("total")?);
        let table = options.number("hash", 0..=LARGEST_TABLE)?;
        if nodes.is_none() && time.is_none() && total.is_none() {
            return Ok(ClassicalMethod::FixedDepth { depth: depth.unwrap_or(6), table: table.unwrap_or(0) });
        }
        Ok(ClassicalMethod::Deepening { depth, nodes, time, total, table: table.unwrap_or(TABLE) })
    }
}

impl fmt::Display for ClassicalSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options: Vec<(&str, Option<String>)> = Vec::new();
        let name = match &self.method {
            ClassicalMethod::Minimax { depth } | ClassicalMethod::BreadthFirst { depth } => {
                options.push(("depth", Some(depth.to_string())));
                if matches!(self.method, ClassicalMethod::Minimax { .. }) { "minimax" } else { "breadthfirst" }
            }
            ClassicalMethod::BestFirst { nodes } => {
                options.push(("nodes", Some(nodes.to_string())));
                "bestfirst"
            }
            ClassicalMethod::FixedDepth { depth, table } => {
                options.push(("depth", Some(depth.to_string())));
                options.push(("hash", (*table != 0).then(|| table.to_string())));
                "alphabeta"
            }
            ClassicalMethod::Deepening { depth, nodes, time, total, table } => {
                options.push(("depth", depth.map(|depth| depth.to_string())));
                options.push(("nodes", nodes.map(|nodes| nodes.to_string())));
                options.push(("time", time.map(time_text)));
                options.push(("total", total.map(time_text)));
                options.push(("hash", (*table != TABLE).then(|| table.to_string())));
                "alphabeta"
            }
        };
        options.push(("heuristic", self.heuristic.clone()));
        let options: Vec<String> =
            options.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?))).collect();
        write!(f, "{name}:{}", options.join(","))
    }
}

impl ClassicalMethod {
    /// Plies to look ahead at most.
    fn depth(&self) -> u32 {
        match self {
            Self::Minimax { depth } | Self::FixedDepth { depth, .. } | Self::BreadthFirst { depth } => *depth,
            Self::Deepening { depth, .. } => depth.unwrap_or(MAX_DEPTH),
            Self::BestFirst { .. } => MAX_DEPTH,
        }
    }
}

/// Confirms that a game has a static evaluation of this name among `known`; without a name, that it has one at all.
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

/// The evaluation of this name, or the game's first.
pub(crate) fn find_heuristic<G: Classical>(name: Option<&str>) -> Result<Box<dyn Heuristic<G>>, String> {
    let mut all = G::heuristics();
    let names: Vec<&str> = all.iter().map(Heuristic::name).collect();
    check_heuristic(name, G::NAME, &names).map(|i| all.swap_remove(i))
}

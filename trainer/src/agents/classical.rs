//! The agents with a classical search: their specs, and the searches behind them.

use std::fmt;
use std::time::{Duration, Instant};

use turnstone_env::{Action, Game, Side};
use turnstone_search::classic::{
    AlphaBeta, BestFirst, BreadthFirst, Classical, Found, Heuristic, Limits, MAX_DEPTH, MOST_POSITIONS, Minimax,
};

use super::options::{Options, time_text};
use super::{Player, PlayerFault};
use crate::streams::Stream;

/// The names of these agents.
pub(super) const NAMES: [&str; 4] = ["minimax", "alphabeta", "breadthfirst", "bestfirst"];

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
    pub(super) fn parse(name: &str, options: &mut Options) -> Result<Self, String> {
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

/// The evaluation of this name, or the game's first.
pub(super) fn find_heuristic<G: Classical>(name: Option<&str>) -> Result<Box<dyn Heuristic<G>>, String> {
    let mut all = G::heuristics();
    let Some(name) = name else { return Ok(all.swap_remove(0)) };
    match all.iter().position(|heuristic| heuristic.name() == name) {
        Some(i) => Ok(all.swap_remove(i)),
        None => {
            let names: Vec<&str> = all.iter().map(Heuristic::name).collect();
            Err(format!("{} has no heuristic `{name}`; it has {}", G::NAME, names.join(", ")))
        }
    }
}

/// A classical search as a spec describes it.
pub struct ClassicalSearch<G: Game> {
    search: Search<G>,
    method: ClassicalMethod,
    /// What is left of the time for a whole game.
    remaining: Option<Duration>,
}

enum Search<G: Game> {
    Minimax(Minimax<G, Box<dyn Heuristic<G>>>),
    AlphaBeta(Box<AlphaBeta<G, Box<dyn Heuristic<G>>>>),
    BreadthFirst(BreadthFirst<G, Box<dyn Heuristic<G>>>),
    BestFirst(BestFirst<G, Box<dyn Heuristic<G>>>),
}

impl<G: Classical> ClassicalSearch<G> {
    /// The search that the spec describes.
    ///
    /// # Errors
    /// The game has no heuristic of that name.
    pub fn new(spec: &ClassicalSpec, game: &G) -> Result<Self, String> {
        let heuristic = find_heuristic::<G>(spec.heuristic.as_deref())?;
        let alpha_beta = |heuristic, mebibytes| match mebibytes {
            0 => AlphaBeta::new(game, heuristic),
            _ => AlphaBeta::new(game, heuristic).with_table((mebibytes as usize) << 20),
        };
        let search = match spec.method {
            ClassicalMethod::Minimax { .. } => Search::Minimax(Minimax::new(game, heuristic)),
            ClassicalMethod::BreadthFirst { .. } => Search::BreadthFirst(BreadthFirst::new(game, heuristic)),
            ClassicalMethod::BestFirst { .. } => Search::BestFirst(BestFirst::new(game, heuristic)),
            ClassicalMethod::FixedDepth { table, .. } | ClassicalMethod::Deepening { table, .. } => {
                Search::AlphaBeta(Box::new(alpha_beta(heuristic, table)))
            }
        };
        let mut search = Self { search, method: spec.method.clone(), remaining: None };
        search.begin_game();
        Ok(search)
    }

    /// The evaluation.
    pub fn heuristic(&self) -> &dyn Heuristic<G> {
        &**match &self.search {
            Search::Minimax(search) => search.heuristic(),
            Search::AlphaBeta(search) => search.heuristic(),
            Search::BreadthFirst(search) => search.heuristic(),
            Search::BestFirst(search) => search.heuristic(),
        }
    }

    /// Forgets all positions and starts the clock of the game anew.
    pub fn begin_game(&mut self) {
        if let Search::AlphaBeta(search) = &mut self.search {
            search.forget();
        }
        if let ClassicalMethod::Deepening { total, .. } = self.method {
            self.remaining = total;
        }
    }

    /// Sets what is left of the time for the whole game, if the search deepens; any other takes the time that it takes.
    pub fn set_remaining(&mut self, remaining: Duration) {
        if let ClassicalMethod::Deepening { .. } = self.method {
            self.remaining = Some(self.remaining.map_or(remaining, |own| own.min(remaining)));
        }
    }

    /// Searches a position.
    pub fn find(&mut self, state: &G::State) -> Found {
        let start = Instant::now();
        let found = match (&mut self.search, &self.method) {
            (Search::Minimax(search), ClassicalMethod::Minimax { depth }) => search.search(state, *depth),
            (Search::BreadthFirst(search), ClassicalMethod::BreadthFirst { depth }) => search.search(state, *depth),
            (Search::BestFirst(search), ClassicalMethod::BestFirst { nodes }) => {
                search.search(state, u64::from(*nodes))
            }
            (Search::AlphaBeta(search), ClassicalMethod::FixedDepth { depth, .. }) => search.search(state, *depth),
            (Search::AlphaBeta(search), ClassicalMethod::Deepening { depth, nodes, time, .. }) => {
                let share = self.remaining.map(Limits::share_of).unwrap_or_default();
                let time = time.iter().chain(&share.time).min().copied();
                search.deepen(state, &Limits { depth: *depth, nodes: nodes.map(u64::from), time, ..share })
            }
            _ => unreachable!("the search was made for the method"),
        };
        self.remaining = self.remaining.map(|remaining| remaining.saturating_sub(start.elapsed()));
        found
    }
}

/// A player with a classical search.
pub(super) struct ClassicalPlayer<G: Game> {
    search: ClassicalSearch<G>,
    comment: String,
}

impl<G: Classical> ClassicalPlayer<G> {
    pub(super) fn new(search: ClassicalSearch<G>) -> Self {
        Self { search, comment: String::new() }
    }
}

impl<G: Classical> Player<G> for ClassicalPlayer<G> {
    fn new_game(&mut self, _: &G, _: &G::State, _: &mut Stream) {
        self.search.begin_game();
    }

    fn clock(&mut self, remaining: Duration) {
        self.search.set_remaining(remaining);
    }

    fn choose(&mut self, game: &G, state: &G::State, _: &mut Stream) -> Result<Action, PlayerFault> {
        let found = self.search.find(state);
        let score = if game.mover(state) == Side::First { found.score } else { -found.score };
        self.comment = format!("score {score:+}, depth {}", found.depth);
        Ok(found.action.expect("a running game searched at least one ply deep has a best action"))
    }

    fn assess(&mut self, _: &G, state: &G::State, _: &mut Stream) -> Option<f64> {
        Some(f64::from(self.search.find(state).score))
    }

    fn comment(&self) -> Option<String> {
        Some(self.comment.clone())
    }
}

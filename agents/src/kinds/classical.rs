//! Agents with a classical search.

use turnstone_base::machine::memory;
use turnstone_search::classic::{MAX_DEPTH, MOST_POSITIONS};

use crate::classical::{ClassicalMethod, ClassicalSpec, TABLE, check_heuristic, check_table};
use crate::error::AgentError;
use crate::interface::Search;
use crate::kind::{AgentKind, Setup, Traits};
use crate::network::LoadedNetwork;
use crate::options::Options;
use crate::playable_game::PlayableGame;
use crate::threads::Threads;

const LARGEST_TABLE: u32 = 65_536;

/// Nodes that a search may visit.
const NODES: std::ops::RangeInclusive<u32> = 1..=u32::MAX;

/// A kind of agent with a classical search.
pub(crate) trait ClassicalKind {
    fn spec(&self) -> &ClassicalSpec;
}

macro_rules! classical {
    ($($(#[doc = $doc:literal])+ $kind:ident $name:literal: $parse:expr;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug)]
        pub(crate) struct $kind(ClassicalSpec);

        impl ClassicalKind for $kind {
            fn spec(&self) -> &ClassicalSpec {
                &self.0
            }
        }

        impl AgentKind for $kind {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = concat!($($doc),+);

            fn parse(options: &mut Options) -> Result<Self, String> {
                let parse: fn(&mut Options) -> Result<ClassicalMethod, String> = $parse;
                let method = parse(options)?;
                let heuristic = options.take("heuristic", "a name", "static evaluation [default: the game's first]");
                let threads = if $name == "alphabeta" { Threads::parse(options)? } else { Threads::default() };
                checked(ClassicalSpec { method, heuristic, threads }).map(Self)
            }

            fn options(&self) -> Option<String> {
                Some(self.0.options())
            }

            fn traits(&self) -> Traits {
                let timed = matches!(self.0.method, ClassicalMethod::Deepening { time: Some(_), .. });
                let (threads, is_portable) = (self.0.threads, !timed && !self.0.threads.is_several());
                Traits { threads, depends_on_time: timed, is_portable, ..Traits::default() }
            }

            fn load(&self, game: &dyn PlayableGame) -> Result<Option<LoadedNetwork>, AgentError> {
                check_heuristic(self.0.heuristic.as_deref(), game.name(), &game.heuristics())?;
                check_table(self.0.table(), memory())?;
                Ok(None)
            }

            fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
                Ok(game.classical_player(&self.0)?)
            }
        }
    )+};
}

classical! {
    /// plain minimax to a depth
    Minimax "minimax": |options| Ok(ClassicalMethod::Minimax { depth: depth(options)?.unwrap_or(6) });
    /// alpha-beta to a depth, or by iterative deepening until a limit of nodes or time
    AlphaBeta "alphabeta": alpha_beta;
    /// breadth-first search, as in the Konane exercise
    BreadthFirst "breadthfirst": |options| Ok(ClassicalMethod::BreadthFirst { depth: depth(options)?.unwrap_or(2) });
    /// best-first search in the manner of A*
    BestFirst "bestfirst": |options| {
        let most = MOST_POSITIONS as u32;
        let nodes = options.number("nodes", 1..=most, "positions to evaluate [default: 1000]")?;
        Ok(ClassicalMethod::BestFirst { nodes: nodes.unwrap_or(1000) })
    };
}

fn depth(options: &mut Options) -> Result<Option<u32>, String> {
    options.number("depth", 1..=MAX_DEPTH, "plies to look ahead")
}

fn alpha_beta(options: &mut Options) -> Result<ClassicalMethod, String> {
    let depth = depth(options)?;
    let nodes = options.number("nodes", NODES, "positions to visit per move")?;
    let time = options.time("time", "time per move")?;
    let table = options.number("hash", 0..=LARGEST_TABLE, "MiB of the transposition table; 0 disables it")?;
    if nodes.is_none() && time.is_none() {
        return Ok(ClassicalMethod::FixedDepth { depth: depth.unwrap_or(6), table: table.unwrap_or(0) });
    }
    Ok(ClassicalMethod::Deepening { depth, nodes, time, table: table.unwrap_or(TABLE) })
}

fn checked(spec: ClassicalSpec) -> Result<ClassicalSpec, String> {
    match spec.threads.is_several() && spec.table() == 0 {
        true => Err("threads share what they find in a table: give its size in MiB, hash=64".to_owned()),
        false => Ok(spec),
    }
}

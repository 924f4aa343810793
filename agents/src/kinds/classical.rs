//! Agents with a classical search.

use std::time::Duration;

use turnstone_base::machine::memory;
use turnstone_base::settings;
use turnstone_search::classic::{MAX_DEPTH, MOST_POSITIONS};

use crate::classical::{ClassicalMethod, ClassicalSpec, TABLE, check_heuristic, check_table};
use crate::error::AgentError;
use crate::interface::Search;
use crate::kind::{AgentKind, Setup, Traits};
use crate::network::LoadedNetwork;
use crate::playable_game::PlayableGame;
use crate::threads::{MANY, Threads};

settings! {
    /// Plain minimax to a depth.
    #[derive(Clone, Debug)]
    pub(crate) struct Minimax {
        /// Plies to look ahead [default: 6].
        depth: Option<u32> = None, 1..=MAX_DEPTH;
        /// Static evaluation [default: the game's first].
        heuristic: Option<String>;
    }
}

settings! {
    /// Alpha-beta to a depth, or by iterative deepening until a limit of nodes or time.
    #[derive(Clone, Debug)]
    pub(crate) struct AlphaBeta {
        /// Plies to look ahead [default: 6, or no limit with nodes or time].
        depth: Option<u32> = None, 1..=MAX_DEPTH;
        /// Positions to visit per move.
        nodes: Option<u32> = None, 1..=u32::MAX;
        /// Time per move.
        time: Option<Duration>;
        /// MiB of the transposition table; 0 disables it [default: 0, or 64 with nodes or time].
        hash: Option<u32> = None, 0..=65_536;
        /// Static evaluation [default: the game's first].
        heuristic: Option<String>;
        /// Threads of one search, which share a table; 0 is one per core.
        threads: Threads = Threads::default(), 0..=MANY;
    }
}

settings! {
    /// Breadth-first search, as in the Konane exercise.
    #[derive(Clone, Debug)]
    pub(crate) struct BreadthFirst {
        /// Plies to look ahead [default: 2].
        depth: Option<u32> = None, 1..=MAX_DEPTH;
        /// Static evaluation [default: the game's first].
        heuristic: Option<String>;
    }
}

settings! {
    /// Best-first search in the manner of A*.
    #[derive(Clone, Debug)]
    pub(crate) struct BestFirst {
        /// Positions to evaluate [default: 1000].
        nodes: Option<u32> = None, 1..=MOST_POSITIONS as u32;
        /// Static evaluation [default: the game's first].
        heuristic: Option<String>;
    }
}

impl AlphaBeta {
    /// Whether it deepens until a limit.
    fn deepens(&self) -> bool {
        self.nodes.is_some() || self.time.is_some()
    }

    /// Its table unless another is given, in MiB.
    fn usual_table(&self) -> u32 {
        if self.deepens() { TABLE } else { 0 }
    }

    fn method(&self) -> ClassicalMethod {
        let Self { depth, nodes, time, .. } = *self;
        let table = self.hash.unwrap_or(self.usual_table());
        match self.deepens() {
            true => ClassicalMethod::Deepening { depth, nodes, time, table },
            false => ClassicalMethod::FixedDepth { depth: depth.unwrap_or(6), table },
        }
    }

    fn completed(&mut self) -> Result<(), String> {
        if !self.deepens() {
            self.depth.get_or_insert(6);
        }
        self.hash = self.hash.filter(|hash| *hash != self.usual_table());
        match self.threads.check()?.is_several() && self.hash.unwrap_or(self.usual_table()) == 0 {
            true => Err("threads share what they find in a table: give its size in MiB, hash=64".to_owned()),
            false => Ok(()),
        }
    }
}

/// Makes kinds of agents of settings: their name, how the settings are completed, and the search that they describe.
macro_rules! classical {
    ($($kind:ident $name:literal: $complete:expr, $spec:expr;)+) => {$(
        impl AgentKind for $kind {
            const NAME: &'static str = $name;

            fn complete(&mut self) -> Result<(), String> {
                let complete: fn(&mut Self) -> Result<(), String> = $complete;
                complete(self)
            }

            fn traits(&self) -> Traits {
                let spec: fn(&Self) -> (ClassicalMethod, Threads) = $spec;
                let ((method, threads), heuristic) = (spec(self), self.heuristic.clone());
                let depends_on_time = matches!(method, ClassicalMethod::Deepening { time: Some(_), .. });
                let is_portable = !depends_on_time && !threads.is_several();
                let classical = Some(ClassicalSpec { method, heuristic, threads });
                Traits { threads, depends_on_time, is_portable, classical, ..Traits::default() }
            }

            fn load(&self, game: &dyn PlayableGame) -> Result<Option<LoadedNetwork>, AgentError> {
                check_heuristic(self.heuristic.as_deref(), game.name(), &game.heuristics())?;
                check_table(self.traits().classical.map_or(0, |spec| spec.table()), memory())?;
                Ok(None)
            }

            fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
                Ok(game.classical_player(&self.traits().classical.expect("it is a classical agent"))?)
            }
        }
    )+};
}

classical! {
    Minimax "minimax": |kind| filled(&mut kind.depth, 6),
        |kind| (ClassicalMethod::Minimax { depth: kind.depth.unwrap_or(6) }, Threads::default());
    AlphaBeta "alphabeta": Self::completed, |kind| (kind.method(), kind.threads);
    BreadthFirst "breadthfirst": |kind| filled(&mut kind.depth, 2),
        |kind| (ClassicalMethod::BreadthFirst { depth: kind.depth.unwrap_or(2) }, Threads::default());
    BestFirst "bestfirst": |kind| filled(&mut kind.nodes, 1000),
        |kind| (ClassicalMethod::BestFirst { nodes: kind.nodes.unwrap_or(1000) }, Threads::default());
}

/// Gives a setting a value if it has none, so that specs say it.
fn filled(setting: &mut Option<u32>, default: u32) -> Result<(), String> {
    setting.get_or_insert(default);
    Ok(())
}

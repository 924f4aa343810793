//! Agents that search a tree: with random playouts, or with a trained network.

use std::path::PathBuf;
use std::time::Duration;

use turnstone_base::settings;
use turnstone_base::settings::Partial;
use turnstone_models::{ComputeDevice, NetworkError, Precision};

use crate::book::Book;
use crate::budget::{Budget, MAX_SIMULATIONS};
use crate::error::AgentError;
use crate::interface::Search;
use crate::kind::{AgentKind, Form, Setup, Traits};
use crate::network::{LoadedNetwork, PRETRAINED};
use crate::playable_game::{Evaluator, PlayableGame, TreePlan, load_network};
use crate::search_settings::{SearchKind, SearchSettings};
use crate::threads::{MANY, Threads};

/// Capacity of the cache of a network's evaluations, in positions.
const CACHED: usize = 1 << 13;

/// Largest batch of a network: larger ones are not faster.
const LARGEST_BATCH: usize = 256;

settings! {
    /// Tree search with random playouts.
    #[derive(Clone, Debug)]
    pub struct Playouts {
        /// Simulations per move [default: 200].
        pub sims: Option<u32> = None, 1..=MAX_SIMULATIONS;
        /// Time per move.
        pub time: Option<Duration>;
        /// Threads of one search; 0 is one per core.
        pub threads: Threads = Threads::default(), 0..=MANY;
    }
}

impl AgentKind for Playouts {
    const NAME: &'static str = "mcts";

    fn complete(&mut self) -> Result<(), String> {
        self.threads.check()?;
        Budget::complete(&mut self.sims, self.time, 200)
    }

    fn traits(&self) -> Traits {
        Traits {
            budget: Some(Budget::of(self.sims, self.time)),
            threads: self.threads,
            depends_on_time: self.time.is_some(),
            is_portable: self.time.is_none() && !self.threads.is_several(),
            ..Traits::default()
        }
    }

    fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        let threads = self.threads.number().unwrap_or(1);
        let budget = Budget::of(self.sims, self.time);
        let plan = TreePlan { threads, ..TreePlan::new(budget, SearchKind::Puct.into()) };
        game.tree_search(Evaluator::Playouts, &plan)
    }
}

settings! {
    /// Tree search with a trained network: `az:<checkpoint or run>,sims=200` or `az:pretrained`.
    #[derive(Clone, Debug)]
    pub struct Network {
        /// Checkpoint file, run folder (for its `latest.safetensors`), or `pretrained` for the agent shipped with the program
        /// (`./pretrained` is a file of that name).
        pub checkpoint: PathBuf = PRETRAINED.into();
        /// Simulations per move; 0 plays the network's policy without search [default: 100].
        pub sims: Option<u32> = None, 0..=MAX_SIMULATIONS;
        /// Time per move.
        pub time: Option<Duration>;
        /// Settings that replace those used in training.
        pub search: Partial<SearchSettings>;
        /// Value of a draw for the agent, from -1 (a loss) to 1 (a win); above 0 it plays for safety.
        pub draw: f32 = 0.0, -1.0..=1.0;
        /// Arithmetic of the network.
        pub precision: Precision;
        /// Device of the network.
        pub device: ComputeDevice;
        /// Temperature of the choice of moves: the policy of the search, or of the network alone, is raised to the power of its
        /// inverse; 0 plays the best move.
        pub temperature: f32 = 0.0, 0.0..=10.0;
        /// Threads of one search; 0 is one per core. With several, two searches of a position differ.
        pub threads: Threads = Threads::default(), 0..=MANY;
        /// Folder with tables of exact values, by which covered positions are proven in the search.
        pub tables: Option<PathBuf>;
        /// Book of corrections from `certify --repair`, whose moves it plays in place of its own; `pretrained` for the one shipped
        /// with the program.
        pub book: Option<PathBuf>;
    }
}

impl AgentKind for Network {
    const NAME: &'static str = "az";
    const FORM: Form = Form::File;

    fn complete(&mut self) -> Result<(), String> {
        if self.precision == Precision::I8 && self.device != ComputeDevice::Cpu {
            return Err(NetworkError::NoGpuIntegers.to_string());
        }
        if self.threads.check()?.is_several() && self.device != ComputeDevice::Cpu {
            return Err("a search on a GPU has one thread".to_owned());
        }
        Budget::complete(&mut self.sims, self.time, 100)
    }

    fn traits(&self) -> Traits {
        let depends_on_time = self.time.is_some();
        let same_bits = self.device == ComputeDevice::Cpu && self.precision != Precision::Auto;
        Traits {
            budget: Some(Budget::of(self.sims, self.time)),
            temperature: self.temperature,
            threads: self.threads,
            depends_on_time,
            is_portable: same_bits && !depends_on_time && self.has_no_files() && !self.threads.is_several(),
            has_tables: self.tables.is_some(),
            checkpoint: Some(self.checkpoint.clone()),
            even: Some(50),
            ..Traits::default()
        }
    }

    fn load(&self, game: &dyn PlayableGame) -> Result<Option<LoadedNetwork>, AgentError> {
        let network = load_network(&self.checkpoint, game)?;
        self.precision.check(self.device).map_err(|error| error.to_string())?;
        if let Some(tables) = &self.tables {
            super::others::check_exact_values(game, tables)?;
        }
        if let Some(book) = &self.book {
            Book::read(book, game.files().book, game, &network)?;
        }
        Ok(Some(network))
    }

    fn search(&self, game: &dyn PlayableGame, setup: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        let network = setup.network.expect("the checkpoint was read on loading");
        let plan = TreePlan {
            draw: self.draw,
            temperature: self.temperature,
            threads: self.threads.number().unwrap_or(1),
            cached: CACHED,
            tables: self.tables.as_deref(),
            book: self.book.as_deref(),
            ..TreePlan::new(Budget::of(self.sims, self.time), self.search.over(network.search_settings()))
        };
        let (precision, device, max_batch) = (self.precision, self.device, setup.seats.min(LARGEST_BATCH));
        game.tree_search(Evaluator::Network { network, precision, device, max_batch }, &plan)
    }
}

impl Network {
    /// Whether it needs no file but its checkpoint.
    fn has_no_files(&self) -> bool {
        self.tables.is_none() && self.book.as_deref().is_none_or(|book| book == PRETRAINED)
    }
}

//! Agents that search a tree: with random playouts, or with a trained network.

use std::path::PathBuf;

use turnstone_base::files::in_folder;
use turnstone_models::{ComputeDevice, Precision};

use crate::error::AgentError;
use crate::interface::Search;
use crate::kind::{AgentKind, Change, Form, Setup, Traits};
use crate::network::{LoadedNetwork, PRETRAINED};
use crate::options::{Options, path_in_spec};
use crate::playable_game::{Evaluator, PlayableGame, TreePlan, load_network};
use crate::search_settings::SearchKind;
use crate::threads::Threads;
use crate::tree_spec::{Budget, TreeSpec};

/// Capacity of the cache of a network's evaluations, in positions.
const CACHED: usize = 1 << 13;

/// Largest batch of a network: larger ones are not faster.
const LARGEST_BATCH: usize = 256;

/// Tree search with random playouts.
#[derive(Clone, Debug)]
pub struct Playouts {
    /// Limit of the search.
    pub budget: Budget,
    /// Threads of one search.
    pub threads: Threads,
}

impl AgentKind for Playouts {
    const NAME: &'static str = "mcts";
    const ABOUT: &'static str = "tree search with random playouts";

    fn parse(options: &mut Options) -> Result<Self, String> {
        Ok(Self { budget: Budget::parse(options, 1, 200)?, threads: Threads::parse(options)? })
    }

    fn options(&self) -> Option<String> {
        Some(format!("{}{}", self.budget, self.threads))
    }

    fn traits(&self) -> Traits {
        let depends_on_time = matches!(self.budget, Budget::Time(_));
        Traits {
            budget: Some(self.budget),
            threads: self.threads,
            depends_on_time,
            is_portable: !depends_on_time && !self.threads.is_several(),
            ..Traits::default()
        }
    }

    fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        let threads = self.threads.number().unwrap_or(1);
        let plan = TreePlan { threads, ..TreePlan::new(self.budget, SearchKind::Puct.into()) };
        game.tree_search(Evaluator::Playouts, &plan)
    }

    fn adjust(&mut self, change: Change<'_>) {
        if let Change::Budget(budget) = change {
            self.budget = budget;
        }
    }
}

/// Tree search with a trained network.
#[derive(Clone, Debug)]
pub struct Network {
    /// Checkpoint file, run folder (for its `latest.safetensors`), or `pretrained` for the agent shipped with the program
    /// (`./pretrained` is a file of that name).
    pub checkpoint: PathBuf,
    /// Settings of the search; 0 simulations play the network's policy without search.
    pub tree: TreeSpec,
    /// Folder with tables of exact values (see `turnstone solve`), by which covered positions are proven in the search.
    pub tables: Option<PathBuf>,
}

impl AgentKind for Network {
    const NAME: &'static str = "az";
    const ABOUT: &'static str = "tree search with a trained network: az:<checkpoint or run>,sims=200 or az:pretrained";
    const FORM: Form = Form::File;

    fn parse(options: &mut Options) -> Result<Self, String> {
        let tree = TreeSpec::parse(options)?;
        let tables = options.take("tables", "a folder", "tables of exact values that the search looks up");
        let checkpoint = options.file.take().ok_or("name a checkpoint: az:<file>,sims=100 or az:pretrained")?;
        Ok(Self { checkpoint, tree, tables: tables.map(PathBuf::from) })
    }

    fn options(&self) -> Option<String> {
        let tables = self.tables.as_ref().map(|tables| format!(",tables={}", path_in_spec(tables)));
        Some(format!("{},{}{}", path_in_spec(&self.checkpoint), self.tree, tables.unwrap_or_default()))
    }

    fn traits(&self) -> Traits {
        let TreeSpec { budget, threads, device, precision, .. } = self.tree;
        let depends_on_time = matches!(budget, Budget::Time(_));
        let same_bits = device == ComputeDevice::Cpu && precision != Precision::Auto;
        Traits {
            budget: Some(budget),
            temperature: self.tree.temperature(),
            threads,
            depends_on_time,
            is_portable: same_bits && !depends_on_time && self.tables.is_none() && !threads.is_several(),
            has_tables: self.tables.is_some(),
            checkpoint: Some(self.checkpoint.clone()),
            even: Some(50),
            ..Traits::default()
        }
    }

    fn load(&self, game: &dyn PlayableGame) -> Result<Option<LoadedNetwork>, AgentError> {
        let network = load_network(&self.checkpoint, game)?;
        self.tree.precision.check(self.tree.device).map_err(|error| error.to_string())?;
        if let Some(tables) = &self.tables {
            super::others::check_exact_values(game, tables)?;
        }
        Ok(Some(network))
    }

    fn search(&self, game: &dyn PlayableGame, setup: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        let TreeSpec { budget, search, precision, device, threads, .. } = self.tree;
        let network = setup.network.expect("the checkpoint was read on loading");
        let plan = TreePlan {
            temperature: self.tree.temperature(),
            threads: threads.number().unwrap_or(1),
            cached: CACHED,
            tables: self.tables.as_deref(),
            ..TreePlan::new(budget, search.over(network.search_settings()))
        };
        let (max_batch, instructions) = (setup.seats.min(LARGEST_BATCH), setup.instructions);
        game.tree_search(Evaluator::Network { network, precision, device, max_batch, instructions }, &plan)
    }

    fn adjust(&mut self, change: Change<'_>) {
        match change {
            Change::Device(device) => self.tree.device = device,
            Change::Threads(threads) if self.tree.device == ComputeDevice::Cpu => {
                self.tree.threads = self.tree.threads.or(threads);
            }
            Change::Threads(_) => {}
            Change::Budget(budget) => self.tree.budget = budget,
            Change::Folder(folder) => {
                if self.checkpoint.as_os_str() != PRETRAINED {
                    self.checkpoint = in_folder(folder, &self.checkpoint);
                }
                self.tables.iter_mut().for_each(|tables| *tables = in_folder(folder, tables));
            }
        }
    }
}

//! Agent: a spec together with the files it refers to.

use std::path::PathBuf;

use turnstone_models::ComputeDevice;

use crate::classical::ClassicalMethod;
use crate::network::LoadedNetwork;
use crate::spec::AgentSpec;
use crate::tree_spec::{Budget, SearchOverrides, TreeSpec};

/// Simulations of all trees of a team together, which bound its memory to about a quarter of a GiB.
const MOST_SIMULATIONS: u32 = 1 << 20;

/// Mebibytes of the transposition tables of the players that take part in games at once.
const LARGEST_TABLES: u32 = 256;

/// How an agent takes part in several games at once on one thread, with the same moves as in one game after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtOnce {
    /// With a [`Team`](crate::Team) of up to this many seats.
    Team(usize),
    /// With one player for all games: its choice depends on the position and the random stream alone.
    Shared,
    /// With a player per game, in up to this many games.
    Players(usize),
}

/// An agent that has been checked for a game, with its files loaded; creates players.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Spec that the agent was created from.
    pub spec: AgentSpec,
    pub(crate) network: Option<LoadedNetwork>,
}

impl Agent {
    /// Creates an agent that searches with a network in memory; `name` takes the checkpoint's place in the spec.
    #[must_use]
    pub fn from_network(
        network: LoadedNetwork,
        name: impl Into<PathBuf>,
        simulations: u32,
        search: impl Into<SearchOverrides>,
    ) -> Self {
        let tree = TreeSpec::simulations(simulations, search.into());
        Self { spec: AgentSpec::Az { checkpoint: name.into(), tree, tables: None }, network: Some(network) }
    }

    /// The agent with its network on this device; agents without a network are unchanged.
    #[must_use]
    pub fn on(mut self, device: ComputeDevice) -> Self {
        if let AgentSpec::Az { tree, .. } = &mut self.spec {
            tree.device = device;
        }
        self
    }

    /// The agent with this number of threads per search, if its spec gives none; for a single search whose result need not
    /// repeat. Agents without a network are unchanged.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        if let AgentSpec::Az { tree, .. } = &mut self.spec
            && tree.device == ComputeDevice::Cpu
        {
            tree.threads = tree.threads.or(threads);
        }
        self
    }

    /// Creates an agent from a spec and the network that an `az:` spec names, which must have been checked for the game;
    /// for hosts without files.
    #[must_use]
    pub fn with_network(spec: AgentSpec, network: Option<LoadedNetwork>) -> Self {
        Self { spec, network }
    }

    /// Checksum of the weights, if the agent has a network; detects that a checkpoint of the same name has changed.
    #[must_use]
    pub fn network_checksum(&self) -> Option<u32> {
        let mut hasher = crc32fast::Hasher::new();
        for tensor in self.network.as_ref()?.weights.tensors() {
            hasher.update(bytemuck::cast_slice(&tensor.data));
        }
        Some(hasher.finalize())
    }

    /// Network of the agent, if it has one.
    #[must_use]
    pub fn network(&self) -> Option<&LoadedNetwork> {
        self.network.as_ref()
    }

    /// How the agent takes part in several games at once. Other programs and searches with a time limit play one game
    /// after another.
    #[must_use]
    pub fn at_once(&self) -> AtOnce {
        let trees = |simulations: u32| (MOST_SIMULATIONS / simulations.max(1)).max(1) as usize;
        match &self.spec {
            AgentSpec::Human | AgentSpec::Engine(_) | AgentSpec::Level(_) => AtOnce::Players(1),
            _ if self.spec.threads().is_several() => AtOnce::Players(1),
            AgentSpec::Random | AgentSpec::Exact(_) => AtOnce::Shared,
            AgentSpec::Classical(spec) => match spec.method {
                ClassicalMethod::Deepening { time: Some(_), .. } => AtOnce::Players(1),
                _ => {
                    AtOnce::Players(LARGEST_TABLES.checked_div(spec.table()).map_or(usize::MAX, |n| n.max(1) as usize))
                }
            },
            AgentSpec::Mcts { budget, .. } | AgentSpec::Az { tree: TreeSpec { budget, .. }, .. } => {
                let is_network = matches!(self.spec, AgentSpec::Az { tables: None, .. });
                // The moves of a team are the best ones.
                let is_team = is_network && self.spec.temperature() == 0.0;
                match *budget {
                    Budget::Time(_) => AtOnce::Players(1),
                    Budget::Simulations(0) if is_network => AtOnce::Shared,
                    Budget::Simulations(simulations) if !is_team => AtOnce::Players(trees(simulations)),
                    Budget::Simulations(simulations) => AtOnce::Team(trees(simulations)),
                }
            }
        }
    }
}

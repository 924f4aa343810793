//! Agent: a spec together with the files it refers to.

use std::path::PathBuf;

use turnstone_models::ComputeDevice;

use crate::network::LoadedNetwork;
use crate::spec::AgentSpec;
use crate::tree_spec::{SearchOverrides, TreeSpec};

/// An agent that has been checked for a game, with its files loaded.
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
}

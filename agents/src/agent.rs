//! An agent: a spec whose files have been read.

use std::path::PathBuf;

use crate::network::LoadedNetwork;
use crate::spec::AgentSpec;
use crate::tree_spec::{SearchOverrides, TreeSpec};

/// An agent whose files have been read and whose names have been checked for a game; builds its players.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The spec it was made from.
    pub spec: AgentSpec,
    pub(crate) network: Option<LoadedNetwork>,
}

impl Agent {
    /// An agent that searches with weights that are in memory.
    #[must_use]
    pub fn from_network(
        network: LoadedNetwork,
        name: impl Into<PathBuf>,
        simulations: u32,
        search: impl Into<SearchOverrides>,
    ) -> Self {
        let tree = TreeSpec::simulations(simulations, search.into());
        Self { spec: AgentSpec::Az { checkpoint: name.into(), tree }, network: Some(network) }
    }

    /// A checksum of the network that it plays with, if it has one: a file of the same name may change.
    #[must_use]
    pub fn network_checksum(&self) -> Option<u32> {
        let mut hasher = crc32fast::Hasher::new();
        for tensor in self.network.as_ref()?.weights.tensors() {
            hasher.update(bytemuck::cast_slice(&tensor.data));
        }
        Some(hasher.finalize())
    }

    /// The network that it searches with, if it has one.
    #[must_use]
    pub fn network(&self) -> Option<&LoadedNetwork> {
        self.network.as_ref()
    }
}

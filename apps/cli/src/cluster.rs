//! Other machines that play for a command, in a program that is built with the feature `cluster`.

#[cfg(not(feature = "cluster"))]
mod absent;
#[cfg(feature = "cluster")]
mod nats;

use std::path::PathBuf;

use turnstone_agents::Agent;
use turnstone_arena::Remote;
use turnstone_models::{NetworkConfig, Precision, ResidualMlp};
use turnstone_selfplay::{SearchConfig, SelfPlayer, TrainableGame};

#[cfg(not(feature = "cluster"))]
pub(crate) use absent::{Absent, ClusterArgs};
#[cfg(feature = "cluster")]
pub(crate) use nats::ClusterArgs;

/// Work that a command wants played elsewhere.
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "no cluster reads it"))]
pub(crate) struct Work<'a> {
    pub(crate) game: &'a dyn TrainableGame,
    /// A network whose evaluations all machines must compute with the same bits.
    pub(crate) network: NetworkConfig,
    /// The search that uses it.
    pub(crate) search: SearchConfig,
    /// The arithmetic of the network.
    pub(crate) precision: Precision,
    /// Folder for the leader's files, from which a later leader continues; `None` if the work ends with its leader.
    pub(crate) folder: Option<PathBuf>,
    /// Whether to print nothing but warnings.
    pub(crate) quiet: bool,
}

impl<'a> Work<'a> {
    /// Games or answers of agents.
    pub(crate) fn of_agents(game: &'a dyn TrainableGame, agents: &[&Agent]) -> Self {
        let network = agents.iter().find_map(|agent| agent.network()).map(|network| network.info.network.clone());
        Self {
            game,
            network: network.unwrap_or_else(|| ResidualMlp { blocks: 1, width: 32 }.into()),
            search: SearchConfig::default(),
            precision: Precision::F32,
            folder: None,
            quiet: false,
        }
    }
}

/// The machine that runs the command: it hands out the games and collects them.
pub(crate) trait Leader: SelfPlayer + Remote {
    /// Ends the work for good and removes its files. A leader that is dropped instead can be followed by another.
    fn finish(self: Box<Self>);
}

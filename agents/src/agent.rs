//! Agent: a spec together with the files it refers to.

use std::path::PathBuf;

use turnstone_base::settings::Partial;
use turnstone_env::Params;
use turnstone_models::ComputeDevice;

use crate::error::AgentError;
use crate::interface::Search;
use crate::kind::{Change, Setup};
use crate::network::{LoadedNetwork, PRETRAINED};
use crate::playable_game::PlayableGame;
use crate::search_settings::SearchSettings;
use crate::spec::AgentSpec;

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
        search: impl Into<Partial<SearchSettings>>,
    ) -> Self {
        Self { spec: AgentSpec::network(name, simulations, search.into()), network: Some(network) }
    }

    /// The agent with a setting changed, where its kind has it.
    #[must_use]
    pub fn adjusted(&self, change: Change<'_>) -> Self {
        Self { spec: self.spec.adjusted(change), network: self.network.clone() }
    }

    /// The agent with its network on this device; agents without a network are unchanged.
    #[must_use]
    pub fn on(self, device: ComputeDevice) -> Self {
        self.adjusted(Change::Device(device))
    }

    /// The agent with this number of threads per search, if its spec gives none; for a single search whose result need not
    /// repeat. Agents without a network are unchanged.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        self.adjusted(Change::Threads(threads))
    }

    /// Creates a search whose positions are evaluated in batches of up to `seats`, and starts what it needs.
    ///
    /// # Errors
    /// As [`AgentKind::search`](crate::AgentKind::search), or a program cannot be started.
    pub fn search(&self, game: &dyn PlayableGame, seats: usize) -> Result<Box<dyn Search>, AgentError> {
        let mut search = self.unstarted_search(game, seats)?;
        search.prepare()?;
        Ok(search)
    }

    /// [`Agent::search`], with nothing started yet.
    ///
    /// # Errors
    /// As [`AgentKind::search`](crate::AgentKind::search).
    pub fn unstarted_search(&self, game: &dyn PlayableGame, seats: usize) -> Result<Box<dyn Search>, AgentError> {
        let setup = Setup { network: self.network.as_ref(), seats };
        self.spec.kind.search(game, &setup).map_err(|error| error.of(&self.spec))
    }

    /// Loads the files of a spec and checks that the agent can play this game.
    ///
    /// # Errors
    /// The spec or a file has a fault, or does not fit the game; the message names the spec or the file.
    pub fn load(spec: &AgentSpec, game: &dyn PlayableGame) -> Result<Self, AgentError> {
        if let Some(other) = spec.kind.stands_for(game).map_err(|error| error.of(spec))? {
            return Self::load(&other.parse()?, game).map_err(|error| AgentError::from(error.to_string()).of(spec));
        }
        let network = spec.kind.load(game).map_err(|error| error.of(spec))?;
        Ok(Self { spec: spec.clone(), network })
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
        self.network.as_ref().map(LoadedNetwork::weights_checksum)
    }

    /// Network of the agent, if it has one.
    #[must_use]
    pub fn network(&self) -> Option<&LoadedNetwork> {
        self.network.as_ref()
    }
}

impl AgentSpec {
    /// Game and parameters of the agent's checkpoint file; `None` if it has no such file.
    ///
    /// # Errors
    /// The checkpoint cannot be read.
    pub fn checkpoint_game(&self) -> Result<Option<(String, Params)>, AgentError> {
        let Some(checkpoint) = self.traits().checkpoint else { return Ok(None) };
        if checkpoint.as_os_str() == PRETRAINED {
            return Ok(None);
        }
        let info = LoadedNetwork::read(&checkpoint)?.info;
        Ok(Some((info.game.clone(), crate::network::game_params(&info))))
    }
}

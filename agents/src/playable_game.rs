//! Object-safe interface to games that agents play, and lists of them.

use std::path::Path;
use std::sync::Arc;

use turnstone_base::machine::memory;
use turnstone_env::{AnyState, DynGame, Erased, Error, Game, Params, Row};
use turnstone_exact::TableError;
use turnstone_models::{Instructions, NetworkError};

use crate::agent::Agent;
use crate::analyser::{Analyser, NetworkAnalyser, SideBySide, TensorSearch};
use crate::classical::{self, ClassicalPlayer, ClassicalSearch, ClassicalSpec, DynSearch, WithGame};
use crate::error::AgentError;
use crate::exact_player;
use crate::exact_spec::ExactSpec;
use crate::explorer::{Explorer, explorer};
use crate::network::{LoadedNetwork, PRETRAINED};
use crate::playable::{Effort, GameFiles, Playable};
use crate::player::{Player, Seat};
use crate::players::{Network, Random, Rollouts};
use crate::search_settings::SearchSettings;
use crate::solving::{SolveError, SolveHost, SolveOptions};
use crate::spec::AgentSpec;
use crate::tablebase::{DynExactValues, Enumeration, Known};
use crate::team::{AtOnce, NetworkTeam, Team};
use crate::tree_spec::{Budget, TreeSpec};

/// Object-safe interface to a [`Playable`] game.
pub trait PlayableGame: DynGame {
    /// [`Playable::files`].
    fn files(&self) -> GameFiles;

    /// Names of the static evaluations, the default first.
    fn heuristics(&self) -> Vec<&'static str>;

    /// Creates a classical search.
    ///
    /// # Errors
    /// The game has no static evaluation of the name given in the spec.
    fn classical_search(&self, spec: &ClassicalSpec) -> Result<Box<dyn DynSearch>, String>;

    /// Creates a player for an agent that was loaded for this game.
    ///
    /// # Errors
    /// The spec is `human`, which has no player, or the network, the exact values or the program cannot be started.
    fn player(&self, agent: &Agent) -> Result<Box<dyn Player>, AgentError>;

    /// Creates a team of `seats` seats for an agent that was loaded for this game; `None` if the agent has no searches whose
    /// positions can be evaluated together.
    ///
    /// # Errors
    /// The network does not match the game.
    fn team(&self, agent: &Agent, seats: usize) -> Result<Option<Box<dyn Team>>, AgentError>;

    /// Exact values, with table files in the folder `tables`; `None` if there are none for the game's parameters.
    ///
    /// # Errors
    /// A table is missing or damaged.
    fn exact_values(&self, tables: &Path, effort: Effort) -> Result<Option<Box<dyn DynExactValues>>, TableError>;

    /// [`Playable::solve`].
    ///
    /// # Errors
    /// As [`Playable::solve`].
    fn solve(
        &self,
        position: Option<&AnyState>,
        options: &SolveOptions<'_>,
        host: &dyn SolveHost,
    ) -> Result<bool, SolveError>;

    /// Solves a game of at most `most` positions; `None` if it has more.
    ///
    /// # Errors
    /// The game has a ply limit that cannot be switched off.
    fn enumerate(&self, most: usize) -> Result<Option<Enumeration>, Error>;

    /// Creates a search of many positions with an evaluator of the caller, and a cache of `cached` evaluations (0: none).
    fn tensor_search(&self, settings: SearchSettings, cached: usize) -> Box<dyn TensorSearch>;

    /// Creates an analyser that searches with a network, with evaluation batches of up to `batch` positions.
    ///
    /// # Errors
    /// The weights do not match the network.
    fn analyser(
        &self,
        network: &LoadedNetwork,
        tree: &TreeSpec,
        batch: usize,
    ) -> Result<Box<dyn Analyser>, NetworkError>;

    /// Creates an explorer for an agent with a tree search that was loaded for this game; `None` for other agents.
    ///
    /// # Errors
    /// The network does not match the game.
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    fn explorer(&self, agent: &Agent, instructions: Instructions) -> Result<Option<Box<dyn Explorer>>, AgentError>;
}

impl<K: Playable> PlayableGame for Erased<K::Game, K> {
    fn files(&self) -> GameFiles {
        K::files()
    }

    fn heuristics(&self) -> Vec<&'static str> {
        K::heuristics().iter().map(|heuristic| heuristic.name()).collect()
    }

    fn classical_search(&self, spec: &ClassicalSpec) -> Result<Box<dyn DynSearch>, String> {
        let search = ClassicalSearch::new::<K>(spec, self.game())?;
        Ok(Box::new(WithGame { game: self.game().clone(), search }))
    }

    fn player(&self, agent: &Agent) -> Result<Box<dyn Player>, AgentError> {
        let game = self.game().clone();
        Ok(match &agent.spec {
            AgentSpec::Human => {
                let fault = "a person can only `play`".to_owned();
                return Err(AgentError::Spec { spec: agent.spec.to_string(), fault });
            }
            AgentSpec::Random => Box::new(Seat { game, player: Random::default() }),
            AgentSpec::Classical(classical) => {
                let search = ClassicalSearch::new::<K>(classical, &game).expect("the heuristic was found on loading");
                Box::new(Seat { game, player: ClassicalPlayer::new(search) })
            }
            #[cfg(not(target_family = "wasm"))]
            AgentSpec::Engine(spec) => Box::new(crate::external::External::new(Arc::new(Erased::new(game)), spec)?),
            #[cfg(target_family = "wasm")]
            AgentSpec::Engine(_) => {
                let fault = "this build cannot start other programs".to_owned();
                return Err(AgentError::Spec { spec: agent.spec.to_string(), fault });
            }
            AgentSpec::Mcts { budget } => {
                let player = Rollouts::new(&game, *budget);
                Box::new(Seat { game, player })
            }
            AgentSpec::Exact(spec) => {
                let player = exact_player::Exact::new::<K>(spec, &game)?;
                Box::new(Seat { game, player })
            }
            AgentSpec::Az { tree, tables, .. } => {
                let network = agent.network.as_ref().expect("the checkpoint was read on loading");
                let truth =
                    tables.as_ref().map(|tables| exact_player::probes::<K>(&agent.spec, tables, &game)).transpose()?;
                let player = Network::new(&game, network, *tree, truth)?;
                Box::new(Seat { game, player })
            }
        })
    }

    fn team(&self, agent: &Agent, seats: usize) -> Result<Option<Box<dyn Team>>, AgentError> {
        let (AtOnce::Team(_), AgentSpec::Az { tree, .. }) = (agent.at_once(), &agent.spec) else { return Ok(None) };
        let Budget::Simulations(simulations) = tree.budget else { return Ok(None) };
        let network = agent.network.as_ref().expect("the checkpoint was read on loading");
        Ok(Some(Box::new(NetworkTeam::new(self.game(), network, *tree, simulations, seats)?)))
    }

    fn exact_values(&self, tables: &Path, effort: Effort) -> Result<Option<Box<dyn DynExactValues>>, TableError> {
        let truth = K::exact_values(self.game(), tables, effort)?;
        let game = self.game().clone();
        Ok(truth.map(|truth| Box::new(Known { game, truth }) as Box<dyn DynExactValues>))
    }

    fn solve(
        &self,
        position: Option<&AnyState>,
        options: &SolveOptions<'_>,
        host: &dyn SolveHost,
    ) -> Result<bool, SolveError> {
        K::solve(self.game(), position.map(AnyState::of), options, host)
    }

    fn enumerate(&self, most: usize) -> Result<Option<Enumeration>, Error> {
        Enumeration::of(self.game(), most)
    }

    fn tensor_search(&self, settings: SearchSettings, cached: usize) -> Box<dyn TensorSearch> {
        Box::new(SideBySide::new(self.game(), settings, cached))
    }

    fn analyser(
        &self,
        network: &LoadedNetwork,
        tree: &TreeSpec,
        batch: usize,
    ) -> Result<Box<dyn Analyser>, NetworkError> {
        Ok(Box::new(NetworkAnalyser::new(self.game(), network, tree, batch)?))
    }

    fn explorer(&self, agent: &Agent, instructions: Instructions) -> Result<Option<Box<dyn Explorer>>, AgentError> {
        explorer(self.game(), agent, instructions)
    }
}

impl Agent {
    /// Loads the files of a spec and checks that the agent can play this game.
    ///
    /// # Errors
    /// The spec or a file has a fault, or does not fit the game; the message names the spec or the file.
    pub fn load(spec: &AgentSpec, game: &dyn PlayableGame) -> Result<Self, AgentError> {
        let fault = |fault: String| AgentError::Spec { spec: spec.to_string(), fault };
        let exact_values = |tables: &Path| {
            exact_player::check(spec, tables)?;
            let truth = game.exact_values(tables, Effort::Quick).map_err(|error| fault(error.to_string()))?;
            truth.ok_or_else(|| exact_player::missing(spec, game.name()))
        };
        let mut network = None;
        match spec {
            AgentSpec::Az { checkpoint, tree, tables, .. } => {
                let loaded = load_network(checkpoint, game)?;
                tree.precision.check(tree.device).map_err(|error| fault(error.to_string()))?;
                network = Some(loaded);
                if let Some(tables) = tables {
                    exact_values(tables)?;
                }
            }
            AgentSpec::Classical(spec) => {
                classical::check_heuristic(spec.heuristic.as_deref(), game.name(), &game.heuristics())
                    .map_err(fault)?;
                classical::check_table(spec.table(), memory()).map_err(fault)?;
            }
            AgentSpec::Exact(ExactSpec { tables, .. }) => {
                exact_values(tables)?;
            }
            AgentSpec::Human | AgentSpec::Random | AgentSpec::Mcts { .. } | AgentSpec::Engine(_) => {}
        }
        Ok(Self { spec: spec.clone(), network })
    }

    /// Creates a player for one seat of one game at a time.
    ///
    /// # Errors
    /// As [`PlayableGame::player`].
    pub fn player(&self, game: &dyn PlayableGame) -> Result<Box<dyn Player>, AgentError> {
        game.player(self)
    }
}

/// Reads a checkpoint for this game: a file, `latest.safetensors` of a run folder, or `pretrained` for the agent
/// shipped with the program.
///
/// # Errors
/// The checkpoint cannot be read or does not fit the game; the message names the file and the fault.
pub fn load_network(checkpoint: &Path, game: &dyn PlayableGame) -> Result<LoadedNetwork, AgentError> {
    let network = if checkpoint.as_os_str() == PRETRAINED {
        LoadedNetwork::pretrained(game.name(), game.files().pretrained)?
    } else {
        LoadedNetwork::read(checkpoint)?
    };
    network.checked(checkpoint, game)
}

impl AgentSpec {
    /// Game and parameters of the agent's checkpoint file; `None` if it has no such file.
    ///
    /// # Errors
    /// The checkpoint cannot be read.
    pub fn checkpoint_game(&self) -> Result<Option<(String, Params)>, AgentError> {
        let Self::Az { checkpoint, .. } = self else { return Ok(None) };
        if checkpoint.as_os_str() == PRETRAINED {
            return Ok(None);
        }
        let info = LoadedNetwork::read(checkpoint)?.info;
        Ok(Some((info.game.clone(), crate::network::game_params(&info))))
    }
}

/// Entry of a game for a list of games that agents can play.
#[must_use]
pub fn row<K: Playable>() -> Row<dyn PlayableGame> {
    Row::<dyn PlayableGame>::new(K::Game::NAME, |params| {
        Ok(Arc::new(Erased::knowing::<K>(K::Game::with_params(params)?)))
    })
}

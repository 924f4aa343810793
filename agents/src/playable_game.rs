//! Object-safe interface to games that agents play, and lists of them.

use std::path::Path;

use turnstone_base::machine::memory;
use turnstone_env::{AnyState, DynGame, Erased, Error, Params, Row};
use turnstone_exact::TableError;
use turnstone_models::{ComputeDevice, Instructions, NetworkError};

use crate::agent::{Agent, AtOnce};
use crate::classical::{self, ClassicalPlayer, ClassicalSearch, ClassicalSpec, DynSearch, WithGame};
use crate::error::AgentError;
use crate::exact_player;
use crate::exact_spec::ExactSpec;
use crate::levels::Level;
use crate::network::{LoadedNetwork, PRETRAINED};
use crate::playable::{Effort, GameFiles, Playable};
use crate::player::Player;
use crate::players::{Network, Random, Rollouts};
use crate::solving::{SolveError, SolveHost, SolveOptions};
use crate::spec::AgentSpec;
use crate::tablebase::{DynExactValues, Enumeration, Known};
use crate::tree_search::{Leaves, Team, TreeSearch, tree_search};
use crate::tree_spec::{Budget, TreeSpec};

/// Capacity of a team's evaluation cache, in positions.
const CACHED_BY_TEAM: usize = 1 << 13;

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

    /// Creates a tree search in seats with a cache of `cached` evaluations; 0 keeps none.
    ///
    /// # Errors
    /// The weights do not match the network, or the GPU cannot be used.
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    fn tree_search(&self, leaves: Leaves<'_>, cached: usize) -> Result<Box<dyn TreeSearch>, NetworkError>;
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
            AgentSpec::Human | AgentSpec::Level(_) => {
                let fault = match agent.spec {
                    AgentSpec::Human => "a person can only `play`",
                    _ => "a level is loaded as the agent that it stands for",
                };
                return Err(AgentError::Spec { spec: agent.spec.to_string(), fault: fault.to_owned() });
            }
            AgentSpec::Random => Box::new(Random::new(game)),
            AgentSpec::Classical(classical) => {
                let search = ClassicalSearch::new::<K>(classical, &game).expect("the heuristic was found on loading");
                Box::new(ClassicalPlayer::new(game, search))
            }
            #[cfg(not(target_family = "wasm"))]
            AgentSpec::Engine(spec) => {
                Box::new(crate::external::External::new(std::sync::Arc::new(Erased::new(game)), spec)?)
            }
            #[cfg(target_family = "wasm")]
            AgentSpec::Engine(_) => {
                let fault = "this build cannot start other programs".to_owned();
                return Err(AgentError::Spec { spec: agent.spec.to_string(), fault });
            }
            AgentSpec::Mcts { budget, .. } => Box::new(Rollouts::new(&game, *budget)),
            AgentSpec::Exact(spec) => Box::new(exact_player::Exact::new::<K>(spec, &game)?),
            AgentSpec::Az { tree, tables, .. } => {
                let network = agent.network.as_ref().expect("the checkpoint was read on loading");
                let truth =
                    tables.as_ref().map(|tables| exact_player::probes::<K>(&agent.spec, tables, &game)).transpose()?;
                Box::new(Network::new(&game, network, *tree, truth)?)
            }
        })
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

    fn tree_search(&self, leaves: Leaves<'_>, cached: usize) -> Result<Box<dyn TreeSearch>, NetworkError> {
        tree_search(self.game(), leaves, cached)
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
            AgentSpec::Level(number) => {
                let levels = levels(game)?;
                let level = levels.into_iter().find(|level| level.number == *number);
                let missing = || fault(format!("{} has no such level", game.name()));
                return Self::load(&level.ok_or_else(missing)?.agent, game);
            }
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

    /// Creates a player for one seat of one game at a time, whose searches have the threads of the spec, or else one.
    ///
    /// # Errors
    /// As [`PlayableGame::player`].
    pub fn player(&self, game: &dyn PlayableGame) -> Result<Box<dyn Player>, AgentError> {
        self.player_with(game, 1)
    }

    /// [`Agent::player`], whose searches have `threads` threads if the spec gives no number.
    ///
    /// # Errors
    /// As [`PlayableGame::player`].
    pub fn player_with(&self, game: &dyn PlayableGame, threads: usize) -> Result<Box<dyn Player>, AgentError> {
        let mut player = game.player(self)?;
        player.set_threads(self.spec.threads().number().unwrap_or(threads));
        Ok(player)
    }

    /// Creates a team of `seats` seats; `None` if the agent has no searches whose positions can be evaluated together.
    ///
    /// # Errors
    /// The weights do not match the network, or the GPU cannot be used.
    pub fn team(&self, game: &dyn PlayableGame, seats: usize) -> Result<Option<Team>, AgentError> {
        let (AtOnce::Team(_), AgentSpec::Az { tree, .. }) = (self.at_once(), &self.spec) else { return Ok(None) };
        let Budget::Simulations(simulations) = tree.budget else { return Ok(None) };
        let network = self.network.as_ref().expect("the checkpoint was read on loading");
        let leaves = Leaves::Network { network, tree, batch: seats, instructions: Instructions::best() };
        Ok(Some(Team { search: game.tree_search(leaves, CACHED_BY_TEAM)?, simulations }))
    }

    /// Creates a tree search to look inside, in one seat, for hosts that cannot interrupt a search; `None` for an agent that
    /// searches no tree. `seed` is that of the playouts of a search without a network.
    ///
    /// # Errors
    /// The weights do not match the network, or the agent has tables or uses a GPU.
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    pub fn explorer(
        &self,
        game: &dyn PlayableGame,
        seed: u64,
        instructions: Instructions,
    ) -> Result<Option<Box<dyn TreeSearch>>, AgentError> {
        let fault = |fault: &str| AgentError::Spec { spec: self.spec.to_string(), fault: fault.to_owned() };
        let leaves = match &self.spec {
            AgentSpec::Mcts { .. } => Leaves::Playouts { seed },
            AgentSpec::Az { tables: Some(_), .. } => {
                return Err(fault("tables are for players, not for looking inside a search"));
            }
            AgentSpec::Az { tree: TreeSpec { device: ComputeDevice::Gpu(_), .. }, .. } => {
                return Err(fault("a search in slices runs on the processor"));
            }
            // Slices lead to the best action.
            AgentSpec::Az { tree, .. } if tree.temperature() == 0.0 => {
                let network = self.network.as_ref().expect("the checkpoint was read on loading");
                Leaves::Network { network, tree, batch: 1, instructions }
            }
            _ => return Ok(None),
        };
        Ok(Some(game.tree_search(leaves, 0)?))
    }
}

/// The levels of a game, the weakest first; none if it comes without them. They are the table `[levels]` of its ladder, in
/// order: `number = ["agent", Elo, low, high]`, with the ends of the rating's 95 % interval.
///
/// # Errors
/// The text has a fault.
pub fn levels(game: &dyn PlayableGame) -> Result<Vec<Level>, AgentError> {
    let fault = |fault| AgentError::Levels { game: game.name().to_owned(), fault };
    Level::read(game.files().ladder.unwrap_or_default()).map_err(fault)
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
    Row::knowing::<K::Game, K>(|game| game)
}

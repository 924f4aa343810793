//! Object-safe interface to games that agents play, and lists of them.

use std::path::Path;

use turnstone_base::machine::memory;
use turnstone_env::{AnyState, DynGame, Erased, Error, Params, Row};
use turnstone_exact::TableError;
use turnstone_models::Instructions;
use turnstone_search::{Rollout, TensorFunction, Tensors, Uniform};

use crate::agent::Agent;
use crate::classical::{self, ClassicalChooser, ClassicalMethod, ClassicalSearch, ClassicalSpec, DynSearch, WithGame};
use crate::error::AgentError;
use crate::exact_player::{self, Exact};
use crate::exact_spec::ExactSpec;
use crate::interface::Search;
use crate::levels::Level;
use crate::network::{LoadedNetwork, PRETRAINED};
use crate::network_backend::AnyBackend;
use crate::one_by_one::{OneByOne, PerSeat};
use crate::playable::{Effort, GameFiles, Phase, Playable};
use crate::random::Random;
use crate::search_settings::{SearchKind, SearchSettings};
use crate::solving::{SolveError, SolveHost, SolveOptions};
use crate::spec::AgentSpec;
use crate::tablebase::{DynExactValues, Enumeration, Known};
use crate::tree_search::{Plan, Source, TreeSearch};
use crate::tree_spec::Budget;

/// Capacity of the cache of a network's evaluations, in positions.
const CACHED: usize = 1 << 13;

/// Largest batch of a network: larger ones are not faster.
const LARGEST_BATCH: usize = 256;

/// Mebibytes of the transposition tables of the seats that think at once.
const LARGEST_TABLES: u32 = 256;

/// Object-safe interface to a [`Playable`] game.
pub trait PlayableGame: DynGame {
    /// [`Playable::files`].
    fn files(&self) -> GameFiles;

    /// [`Playable::phase`].
    fn phase(&self, state: &AnyState) -> Phase;

    /// [`Playable::without_counters`].
    fn without_counters(&self, state: &AnyState) -> AnyState;

    /// Names of the static evaluations, the default first.
    fn heuristics(&self) -> Vec<&'static str>;

    /// Creates a classical search.
    ///
    /// # Errors
    /// The game has no static evaluation of the name given in the spec.
    fn classical_search(&self, spec: &ClassicalSpec) -> Result<Box<dyn DynSearch>, String>;

    /// Creates the search of an agent that was loaded for this game. A network evaluates up to `seats` positions in one batch
    /// and computes its floats with these instructions.
    ///
    /// # Errors
    /// The spec is `human`, which has no search, or the network or the exact values cannot be used.
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    fn search(&self, agent: &Agent, seats: usize, instructions: Instructions) -> Result<Box<dyn Search>, AgentError>;

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

    /// Creates a tree search whose positions are evaluated by a function on tensors, or else with equal priors and value 0, and
    /// a cache of `cached` evaluations; 0 keeps none. Requests say how many simulations it makes; without limits it makes one.
    fn tree_search(&self, settings: SearchSettings, function: Option<TensorFunction>, cached: usize)
    -> Box<dyn Search>;
}

impl<K: Playable> PlayableGame for Erased<K::Game, K> {
    fn files(&self) -> GameFiles {
        K::files()
    }

    fn phase(&self, state: &AnyState) -> Phase {
        K::phase(self.game(), state.of())
    }

    fn without_counters(&self, state: &AnyState) -> AnyState {
        AnyState::new(K::without_counters(state.of()))
    }

    fn heuristics(&self) -> Vec<&'static str> {
        K::heuristics().iter().map(|heuristic| heuristic.name()).collect()
    }

    fn classical_search(&self, spec: &ClassicalSpec) -> Result<Box<dyn DynSearch>, String> {
        let search = ClassicalSearch::new::<K>(spec, self.game())?;
        Ok(Box::new(WithGame { game: self.game().clone(), search }))
    }

    fn search(&self, agent: &Agent, seats: usize, instructions: Instructions) -> Result<Box<dyn Search>, AgentError> {
        let game = self.game().clone();
        Ok(match &agent.spec {
            AgentSpec::Human | AgentSpec::Level(_) => {
                let fault = match agent.spec {
                    AgentSpec::Human => "a person can only `play`",
                    _ => "a level is loaded as the agent that it stands for",
                };
                return Err(AgentError::Spec { spec: agent.spec.to_string(), fault: fault.to_owned() });
            }
            AgentSpec::Random => Box::new(OneByOne::new(Random::new(game), usize::MAX)),
            AgentSpec::Classical(spec) => {
                let most = match spec.method {
                    ClassicalMethod::Deepening { time: Some(_), .. } => 1,
                    _ if spec.threads.is_several() => 1,
                    _ => LARGEST_TABLES.checked_div(spec.table()).map_or(usize::MAX, |n| n.max(1) as usize),
                };
                let spec = spec.clone();
                let make = move || -> Box<dyn Search> {
                    let search = ClassicalSearch::new::<K>(&spec, &game).expect("the heuristic was found on loading");
                    Box::new(OneByOne::new(ClassicalChooser::new(game.clone(), search), 1))
                };
                Box::new(PerSeat::new(make, most))
            }
            #[cfg(not(target_family = "wasm"))]
            AgentSpec::Engine(spec) => {
                Box::new(crate::external::External::new(std::sync::Arc::new(Erased::new(game)), spec))
            }
            #[cfg(target_family = "wasm")]
            AgentSpec::Engine(_) => {
                let fault = "this build cannot start other programs".to_owned();
                return Err(AgentError::Spec { spec: agent.spec.to_string(), fault });
            }
            AgentSpec::Mcts { budget, .. } => {
                let settings = SearchKind::Puct.into();
                let plan = Plan { budget: *budget, settings, temperature: 0.0, source: Source::Playouts };
                let threads = agent.spec.threads().number();
                let make = move || {
                    let mut search = TreeSearch::new(&game, Box::new(Rollout::new(0)), plan, 0);
                    search.set_threads(threads.unwrap_or(1));
                    search
                };
                let most = make().most_seats();
                Box::new(PerSeat::new(move || Box::new(make()), most))
            }
            AgentSpec::Exact(spec) => Box::new(OneByOne::new(Exact::new::<K>(spec, &game)?, usize::MAX)),
            AgentSpec::Az { tree, tables, .. } => {
                let network = agent.network.as_ref().expect("the checkpoint was read on loading");
                let with = (tree.precision, tree.device);
                let backend = network.backend(&game, with, seats.min(LARGEST_BATCH), instructions)?;
                let plan = Plan {
                    budget: tree.budget,
                    settings: tree.search.over(network.search_settings()),
                    temperature: tree.temperature(),
                    source: Source::Network,
                };
                let mut search = match tables {
                    Some(tables) => {
                        let truth = exact_player::probes::<K>(&agent.spec, tables, &game)?;
                        TreeSearch::with_tables(&game, backend, truth, plan, CACHED)
                    }
                    None => TreeSearch::new(&game, backend, plan, CACHED),
                };
                search.set_threads(tree.threads.number().unwrap_or(1));
                Box::new(search)
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

    fn tree_search(
        &self,
        settings: SearchSettings,
        function: Option<TensorFunction>,
        cached: usize,
    ) -> Box<dyn Search> {
        let backend: AnyBackend<K::Game> = match function {
            Some(function) => Box::new(Tensors::new(self.spec().clone(), function)),
            None => Box::new(Uniform),
        };
        let budget = Budget::Simulations(1);
        let plan = Plan { budget, settings, temperature: 0.0, source: Source::Network };
        Box::new(TreeSearch::new(self.game(), backend, plan, cached))
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

    /// Creates a search whose positions are evaluated in batches of up to `seats`, and starts what it needs.
    ///
    /// # Errors
    /// As [`PlayableGame::search`], or a program cannot be started.
    pub fn search(&self, game: &dyn PlayableGame, seats: usize) -> Result<Box<dyn Search>, AgentError> {
        let mut search = game.search(self, seats, Instructions::best())?;
        search.prepare()?;
        Ok(search)
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
pub fn row<K: Playable<Game: Default>>() -> Row<dyn PlayableGame> {
    Row::with_knowledge::<K::Game, K>(|game| game)
}

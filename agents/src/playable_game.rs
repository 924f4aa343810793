//! Object-safe interface to games that agents play, and lists of them.

use std::path::Path;
use std::sync::Arc;

#[cfg(not(target_family = "wasm"))]
use turnstone_env::Side;
use turnstone_env::{AnyState, DynGame, Erased, Error, Row, Rules};
use turnstone_exact::TableError;
#[cfg(not(target_family = "wasm"))]
use turnstone_exact::{Certificate, CertificateFault, Walk};
use turnstone_models::{ComputeDevice, Precision};
use turnstone_search::classic::SearchResult;
use turnstone_search::{Rollout, TensorFunction, Tensors, Uniform};

use crate::book::Book;
use crate::budget::Budget;
use crate::classical::{ClassicalChooser, ClassicalMethod, ClassicalSearch, ClassicalSpec, find_heuristic};
use crate::error::AgentError;
use crate::exact_player::{self, ExactPlayer};
use crate::exact_spec::ExactSpec;
use crate::interface::Search;
use crate::network::{LoadedNetwork, PRETRAINED};
use crate::network_backend::AnyBackend;
use crate::one_by_one::{OneByOne, PerSeat};
use crate::playable::{Effort, GameFiles, Phase, Playable};
use crate::random::Random;
use crate::search_settings::SearchSettings;
use crate::solving::{SolveError, SolveHost, SolveOptions};
use crate::tablebase::{DynExactValues, Enumeration, ErasedValues};
use crate::tree_search::{Corrections, Plan, Source, TreeSearch};
#[cfg(not(target_family = "wasm"))]
use crate::walking::DynWalk;

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

    /// Evaluation of a position without search for the first side, by the static evaluation of this name or else by the game's
    /// first one; the final score if the game is over.
    ///
    /// # Errors
    /// The game has no static evaluation of this name.
    fn static_score(&self, state: &AnyState, heuristic: Option<&str>) -> Result<i32, String>;

    /// Creates a classical search, which keeps its transposition table from one position to the next.
    ///
    /// # Errors
    /// As [`PlayableGame::static_score`].
    fn classical_search(&self, spec: &ClassicalSpec) -> Result<ClassicalFinder, String>;

    /// Creates a player of uniformly random legal actions.
    fn random_search(&self) -> Box<dyn Search>;

    /// Creates a player with a classical search.
    ///
    /// # Errors
    /// As [`PlayableGame::static_score`].
    fn classical_player(&self, spec: &ClassicalSpec) -> Result<Box<dyn Search>, String>;

    /// Creates a player with exact values.
    ///
    /// # Errors
    /// The game has none, or a table has a fault.
    fn exact_player(&self, spec: &ExactSpec) -> Result<Box<dyn Search>, AgentError>;

    /// Creates a tree search with these evaluations. Requests say how many simulations it makes; without limits it keeps to
    /// those of the plan.
    ///
    /// # Errors
    /// The network or the tables cannot be used.
    fn tree_search(&self, evaluator: Evaluator<'_>, plan: &TreePlan<'_>) -> Result<Box<dyn Search>, AgentError>;

    /// The game, shared.
    fn shared(&self) -> Arc<dyn PlayableGame>;

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

    /// [`Walk::new`]. Walks and certificates are not on WebAssembly, as the page has no use for them.
    #[cfg(not(target_family = "wasm"))]
    fn walk(&self, seat: Side, starts: &[AnyState]) -> Box<dyn DynWalk>;

    /// [`Walk::bytes_per_position`].
    #[cfg(not(target_family = "wasm"))]
    fn walked_bytes(&self) -> usize;

    /// [`Certificate::check`].
    ///
    /// # Errors
    /// As [`Certificate::check`].
    #[cfg(not(target_family = "wasm"))]
    fn check_certificate(&self, certificate: &Certificate) -> Result<(), CertificateFault>;
}

/// Searches a position with the limits of a spec.
pub type ClassicalFinder = Box<dyn FnMut(&AnyState) -> SearchResult>;

/// Evaluator of a tree search.
pub enum Evaluator<'a> {
    /// Equal priors and value 0.
    Uniform,
    /// Random playouts.
    Playouts,
    /// A function on tensors.
    Tensors(TensorFunction),
    /// A network.
    Network {
        /// The network, which fits the game.
        network: &'a LoadedNetwork,
        /// Its arithmetic.
        precision: Precision,
        /// Its device.
        device: ComputeDevice,
        /// Most positions in one batch.
        max_batch: usize,
    },
}

/// Settings of a tree search.
#[derive(Clone, Copy, Debug)]
pub struct TreePlan<'a> {
    /// Limit per move.
    pub budget: Budget,
    /// Algorithm and constants.
    pub settings: SearchSettings,
    /// Value of a draw for the side to move, -1 to 1.
    pub draw: f32,
    /// Temperature of the choice of moves; 0 plays the best one.
    pub temperature: f32,
    /// Threads of one search that is alone.
    pub threads: usize,
    /// Capacity of the cache of evaluations, in positions; 0 keeps none.
    pub cached: usize,
    /// Folder of tables of exact values that the search looks up.
    pub tables: Option<&'a Path>,
    /// [`Book`] of a network, whose moves are played instead of searching.
    pub book: Option<&'a Path>,
}

impl TreePlan<'_> {
    /// A search with one thread and without a cache that plays the best move.
    #[must_use]
    pub fn new(budget: Budget, settings: SearchSettings) -> Self {
        Self { budget, settings, draw: 0.0, temperature: 0.0, threads: 1, cached: 0, tables: None, book: None }
    }
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

    fn static_score(&self, state: &AnyState, heuristic: Option<&str>) -> Result<i32, String> {
        let (game, state) = (self.game(), state.of());
        let heuristic = find_heuristic::<K>(game, heuristic)?;
        Ok(match game.outcome(state) {
            Some(outcome) => heuristic.final_score(game, state, &outcome),
            None => heuristic.estimate(game, state),
        })
    }

    fn classical_search(&self, spec: &ClassicalSpec) -> Result<ClassicalFinder, String> {
        let mut search = ClassicalSearch::new::<K>(spec, self.game())?;
        Ok(Box::new(move |state| search.find(state.of())))
    }

    fn random_search(&self) -> Box<dyn Search> {
        Box::new(OneByOne::new(Random::new(self.game().clone()), usize::MAX))
    }

    fn classical_player(&self, spec: &ClassicalSpec) -> Result<Box<dyn Search>, String> {
        let most = match spec.method {
            ClassicalMethod::Deepening { time: Some(_), .. } => 1,
            _ if spec.threads.is_several() => 1,
            _ => LARGEST_TABLES.checked_div(spec.table()).map_or(usize::MAX, |n| n.max(1) as usize),
        };
        let (game, spec) = (self.game().clone(), spec.clone());
        find_heuristic::<K>(&game, spec.heuristic.as_deref())?;
        let make = move || -> Box<dyn Search> {
            let search = ClassicalSearch::new::<K>(&spec, &game).expect("the heuristic was found");
            Box::new(OneByOne::new(ClassicalChooser::new(game.clone(), search), 1))
        };
        Ok(Box::new(PerSeat::new(make, most)))
    }

    fn exact_player(&self, spec: &ExactSpec) -> Result<Box<dyn Search>, AgentError> {
        Ok(Box::new(OneByOne::new(ExactPlayer::new::<K>(spec, self.game())?, usize::MAX)))
    }

    fn tree_search(&self, evaluator: Evaluator<'_>, tree: &TreePlan<'_>) -> Result<Box<dyn Search>, AgentError> {
        let game = self.game().clone();
        let TreePlan { budget, settings, draw, temperature, threads, cached, tables, book } = *tree;
        let plan = Plan { budget, settings, draw, temperature, source: Source::Network };
        let mut corrections = Corrections::default();
        if let (Some(path), Evaluator::Network { network, .. }) = (book, &evaluator) {
            let book = Book::read(path, K::files().book, self, network)?;
            corrections.moves = book.moves.iter().map(|(state, action)| (*state.of(), *action)).collect();
            corrections.key = book.is_endless().then_some(K::without_counters as fn(&_) -> _);
        }
        let backend: AnyBackend<K::Game> = match evaluator {
            Evaluator::Playouts => {
                // Their random numbers are of a game, so every seat has a search of its own.
                let make = move || {
                    let plan = Plan { source: Source::Playouts, ..plan };
                    let mut search = TreeSearch::new(&game, Box::new(Rollout::new(0)), plan, cached);
                    search.set_threads(threads);
                    search
                };
                let most = make().most_seats();
                return Ok(Box::new(PerSeat::new(move || Box::new(make()), most)));
            }
            Evaluator::Uniform => Box::new(Uniform),
            Evaluator::Tensors(function) => Box::new(Tensors::new(self.spec().clone(), function)),
            Evaluator::Network { network, precision, device, max_batch } => {
                network.backend(&game, precision, device, max_batch)?
            }
        };
        let mut search = match tables {
            Some(tables) => {
                let truth = exact_player::probes::<K>(tables, &game)?;
                TreeSearch::with_tables(&game, backend, truth, plan, cached)
            }
            None => TreeSearch::new(&game, backend, plan, cached),
        };
        search.correct(corrections);
        search.set_threads(threads);
        Ok(Box::new(search))
    }

    fn shared(&self) -> Arc<dyn PlayableGame> {
        Arc::new(self.clone())
    }

    fn exact_values(&self, tables: &Path, effort: Effort) -> Result<Option<Box<dyn DynExactValues>>, TableError> {
        let truth = K::exact_values(self.game(), tables, effort)?;
        let game = self.game().clone();
        Ok(truth.map(|truth| Box::new(ErasedValues { game, truth }) as Box<dyn DynExactValues>))
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

    #[cfg(not(target_family = "wasm"))]
    fn walk(&self, seat: Side, starts: &[AnyState]) -> Box<dyn DynWalk> {
        let starts: Vec<_> = starts.iter().map(|start| *start.of()).collect();
        Box::new(Walk::new(self.game(), seat, &starts))
    }

    #[cfg(not(target_family = "wasm"))]
    fn walked_bytes(&self) -> usize {
        Walk::<K::Game>::bytes_per_position()
    }

    #[cfg(not(target_family = "wasm"))]
    fn check_certificate(&self, certificate: &Certificate) -> Result<(), CertificateFault> {
        certificate.check(self.game())
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

/// Entry of a game for a list of games that agents can play.
#[must_use]
pub fn row<K: Playable<Game: Default>>() -> Row<dyn PlayableGame> {
    Row::with_knowledge::<K::Game, K>(|game| game)
}

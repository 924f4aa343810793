//! The class `Search`: tree search of positions with a network of the caller.

use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyList};
use turnstone_agents::{Budget, Evaluator, Search as Searches, SearchRequest, SearchSettings, TreePlan};
use turnstone_base::settings;
use turnstone_base::settings::Settings;
use turnstone_base::streams::{Purpose, stream};
use turnstone_search::classic::Limits;

use crate::analysis::Analysis;
use crate::errors::{evaluator_error, value_error, within};
use crate::evaluate::Leaves;
use crate::game::Game;
use crate::settings as arguments;
use crate::state::State;

/// Most simulations of a search.
const MOST: u32 = 10_000_000;

settings! {
    /// Keyword arguments of `Search`.
    #[derive(Clone, Debug)]
    struct SearchArguments {
        /// Simulations per position.
        simulations: u32 = 100, 1..=MOST;
        /// Capacity, in positions, of the cache that keeps evaluations between calls; 0 disables it.
        cached_positions: usize = 0, 0..=1 << 26;
        /// Algorithm and constants.
        search: SearchSettings;
        /// Value of a draw for the side to move, from -1 (a loss) to 1 (a win).
        draw: f32 = 0.0, -1.0..=1.0;
    }
}

/// Tree search of positions with a network of the caller.
///
/// `evaluate(observations, masks) -> (policy_logits, values)` gets float32 [n, planes, height, width] and bool
/// [n, actions], and returns float32 [n, actions] and float32 [n], the expected result for the player to move, -1 to 1.
/// Masks and logits are in the order of the policy vector (`Game.policy_index`); logits of illegal actions are ignored.
/// `evaluate` may be `"uniform"`: equal priors and value 0.
///
/// Args:
///     game: name of a game, or a `Game`.
///     evaluate: the network.
///     simulations: Simulations per position (1 to 10000000).
///     cached_positions: Capacity, in positions, of the cache that keeps evaluations between calls (0 to 67108864); 0
///         disables it.
///     method: Search algorithm (`gumbel` or `puct`).
///     c_puct: PUCT: weight of the exploration term (0 to 100).
///     fpu_reduction: PUCT: first-play-urgency reduction (0 to 2).
///     c_visit: Gumbel: added to the greatest visit count in the scale of the values relative to the logits (0 to 10000).
///     c_scale: Gumbel: factor in the scale of the values relative to the logits (0 to 1000).
///     considered: Gumbel: number of actions considered at the root (1 to 65536); by default it depends on the number of
///         simulations.
///     proof_nodes: Positions that a proof-number search may visit at every leaf (0 to 100000); 0 searches for no proofs.
///     draw: Value of a draw for the side to move, from -1 (a loss) to 1 (a win).
#[pyclass(frozen, module = "turnstone_rl")]
pub(crate) struct Search {
    /// The game.
    #[pyo3(get)]
    game: Game,
    leaves: Arc<Leaves>,
    settings: SearchArguments,
    search: Mutex<Box<dyn Searches>>,
}

/// A search that begins afresh.
fn made(game: &Game, leaves: &Arc<Leaves>, settings: &SearchArguments) -> Box<dyn Searches> {
    let evaluator = leaves.tensors(game).map_or(Evaluator::Uniform, Evaluator::Tensors);
    let SearchArguments { cached_positions: cached, search, draw, .. } = *settings;
    let plan = TreePlan { cached, draw, ..TreePlan::new(Budget::Simulations(1), search) };
    game.rules.tree_search(evaluator, &plan).expect("neither a network nor tables")
}

fn simulations(given: i64) -> PyResult<u32> {
    Ok(within("simulations", given, 1, MOST)? as u32)
}

#[pymethods]
impl Search {
    #[new]
    #[pyo3(
        signature = (game, evaluate, *, **settings),
        text_signature = "(game, evaluate, *, simulations=100, cached_positions=0, method='gumbel', c_puct=1.25, \
            fpu_reduction=0.2, c_visit=50.0, c_scale=0.7, considered=None, proof_nodes=0, draw=0.0)"
    )]
    fn new(
        game: &Bound<'_, PyAny>,
        evaluate: &Bound<'_, PyAny>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (game, given) = (Game::of(game)?, settings);
        let mut settings = SearchArguments::default();
        arguments::take("Search", settings.settings(), given)?;
        let leaves = Arc::new(Leaves::new(evaluate)?);
        let search = Mutex::new(made(&game, &leaves, &settings));
        Ok(Self { game, leaves, settings, search })
    }

    /// Simulations per position.
    #[getter]
    fn simulations(&self) -> u32 {
        self.settings.simulations
    }

    /// All settings with their values, keyword arguments of another `Search`.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        arguments::dict(py, &self.settings.clone().settings())
    }

    /// Searches a `State`, or a sequence of them, side by side: their leaves are evaluated in one batch. Returns an
    /// `Analysis`, or a list. The result for a state does not depend on the others.
    #[pyo3(signature = (states, simulations = None))]
    fn run(&self, py: Python<'_>, states: &Bound<'_, PyAny>, simulations: Option<i64>) -> PyResult<Py<PyAny>> {
        let count = simulations.map_or(Ok(self.settings.simulations), self::simulations)?;
        if let Ok(state) = states.cast::<State>() {
            let found = self.search(py, vec![state.get().clone()], count)?.pop();
            let found = found.ok_or_else(|| PyRuntimeError::new_err("the search has no result"))?;
            return Ok(found.into_pyobject(py)?.into_any().unbind());
        }
        let states: Vec<State> = states
            .try_iter()?
            .map(|state| {
                let state = state?;
                let kind = state.get_type();
                let wrong = |_| PyTypeError::new_err(format!("a state is a turnstone.State, not {kind}"));
                Ok(state.cast::<State>().map_err(wrong)?.get().clone())
            })
            .collect::<PyResult<_>>()?;
        let found = self.search(py, states, count)?;
        let list = found.into_iter().map(|found| found.into_pyobject(py)).collect::<Result<Vec<_>, _>>()?;
        Ok(PyList::new(py, list)?.into_any().unbind())
    }

    /// Removes all cached evaluations, which is needed when the network has changed.
    fn clear_cache(&self) -> PyResult<()> {
        self.lock()?.forget();
        Ok(())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(arguments::no_copy("Search"))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.leaves.traverse(&visit)
    }

    fn __repr__(&self) -> String {
        format!("turnstone.Search('{}', simulations={})", self.game.rules.name(), self.settings.simulations)
    }
}

impl Search {
    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, Box<dyn Searches>>> {
        self.search.try_lock().map_err(|_| self.leaves.in_use("Search"))
    }

    fn search(&self, py: Python<'_>, states: Vec<State>, simulations: u32) -> PyResult<Vec<Analysis>> {
        for (i, state) in states.iter().enumerate() {
            state.expect_game(&self.game)?;
            if state.is_over()? {
                let text = state.text()?;
                return Err(value_error(format!("state {i} ({text}): the game is over, there is nothing to search")));
            }
        }
        let mut search = self.lock()?;
        let search = &mut *search;
        let found = py.detach(|| {
            self.game.guarded(|| {
                for (seat, state) in states.iter().enumerate() {
                    search.new_game(seat, &state.state, stream(0, Purpose::Play, [0, 0]));
                    let limits = Some(Limits::nodes(u64::from(simulations)));
                    search.begin(seat, &state.state, SearchRequest { limits, ..SearchRequest::default() });
                }
                let mut left = states.len();
                while left > 0 {
                    let advanced = search.advance(&mut |_, _| ());
                    let chosen = advanced.and_then(|chosen| self.leaves.handle_signals().map(|()| chosen));
                    left -= chosen.inspect_err(|_| search.clear())?.len();
                }
                Ok((0..states.len()).map(|seat| search.analysis(seat).expect("a tree")).collect::<Vec<_>>())
            })
        });
        if found.is_err() {
            // The rules have ended the search in the middle.
            *search = made(&self.game, &self.leaves, &self.settings);
        }
        let found = found?.map_err(|fault| evaluator_error(py, &fault))?;
        let results = states.into_iter().zip(found);
        Ok(results.map(|(state, found)| Analysis::of_tree(state, &found)).collect())
    }
}

//! The class `Agent`: a player of the program from its one-line spec.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use turnstone_agents::{Agent as Loaded, AgentSpec, Search, SearchRequest};
use turnstone_base::streams::{Purpose, stream};
use turnstone_search::Stop;

use crate::analysis::Analysis;
use crate::errors::{agent_error, value_error};
use crate::game::{Call, Game};
use crate::state::State;

/// An agent from its one-line spec: `Agent("mancala", "az:pretrained,sims=200")`.
///
/// Specs are those of the program: `random`, `minimax:depth=6`, `alphabeta:depth=8`, `alphabeta:time=1s`,
/// `mcts:sims=200`, `az:<checkpoint or run folder>,sims=100`, `az:pretrained`, `exact:<folder of tables>`,
/// `engine:<options>:<command line>`. The agent plays from any position and remembers none. `level=3` in place of a spec is
/// an agent of measured strength, from 1, which a beginner can beat, to 8; `spec` is then that of the agent that plays it.
///
/// One thread at a time uses an agent: a call while another thread is in one raises a RuntimeError. Give each thread a copy,
/// `copy.copy(agent)`.
///
/// A copy shares the network and continues the random choices. A pickle holds the spec in place of the network: where it is
/// loaded, `az:` reads its checkpoint again.
///
/// Args:
///     game: name of a game, or a `Game`.
///     spec: the agent.
///     level: number of a level of the game, in place of a spec.
///     seed: of random choices.
///     params: parameters of the game as a dictionary.
///     parameters: the same as keyword arguments, in place of `params`.
#[pyclass(frozen, module = "turnstone_rl")]
pub(crate) struct Agent {
    /// The game.
    #[pyo3(get)]
    game: Game,
    loaded: Loaded,
    seed: u64,
    inner: Mutex<Inner>,
}

struct Inner {
    /// Absent while it thinks, and after an exception.
    search: Option<Box<dyn Search>>,
    /// Number of choices so far: each has a random stream of its own.
    choices: u64,
}

impl Agent {
    /// An agent that has made this many choices.
    fn of_loaded(py: Python<'_>, game: Game, loaded: Loaded, seed: u64, choices: u64) -> PyResult<Self> {
        let search = Some(Self::made(py, &game, &loaded)?);
        Ok(Self { game, loaded, seed, inner: Mutex::new(Inner { search, choices }) })
    }

    fn made(py: Python<'_>, game: &Game, loaded: &Loaded) -> PyResult<Box<dyn Search>> {
        py.detach(|| game.guarded(|| loaded.search(&*game.rules, 1)))?.map_err(agent_error)
    }

    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, Inner>> {
        self.inner.try_lock().map_err(|_| PyRuntimeError::new_err("the agent is being used by another thread"))
    }

    fn check(&self, state: &State) -> PyResult<()> {
        state.expect_game(&self.game)?;
        if state.is_over()? {
            let text = state.text()?;
            return Err(value_error(format!("{text}: the game is over, there is nothing to play")));
        }
        Ok(())
    }

    /// Lets the agent choose, and returns what it has found.
    fn choose(&self, py: Python<'_>, inner: &mut Inner, state: &State) -> PyResult<Analysis> {
        let (game, position) = (self.game.clone(), state.state.clone());
        let rng = stream(self.seed, Purpose::Play, [inner.choices, 0]);
        inner.choices += 1;
        let mut search = match inner.search.take() {
            Some(search) => search,
            None => Self::made(py, &self.game, &self.loaded)?,
        };
        let stop = Stop::default();
        // A search with reports is one that the flag can stop.
        let request = SearchRequest::stopped_by(&stop).with_reports();
        let work = move || {
            search.new_game(0, &position, rng);
            let chosen = search.choose_within(0, &position, request, &mut |_| ());
            (search, chosen)
        };
        let (search, chosen) = if self.loaded.spec == AgentSpec::random() {
            game.guarded(work)? // it does not take long
        } else {
            game.interruptible(py, move || stop.raise(), work)?
        };
        let fault = |fault| PyRuntimeError::new_err(format!("{}: {fault}", self.loaded.spec));
        let found = chosen.map(|action| match search.analysis(0) {
            Some(analysis) => Analysis::of_tree(state.clone(), &analysis),
            None => Analysis::of_agent(state.clone(), action, search.report(0)),
        });
        inner.search = Some(search);
        found.map_err(fault)
    }
}

#[pymethods]
impl Agent {
    #[new]
    #[pyo3(
        signature = (game, spec = None, *, level = None, seed = None, params = None, **parameters),
        text_signature = "(game, spec=None, *, level=None, seed=0, params=None, **parameters)"
    )]
    fn new(
        py: Python<'_>,
        game: &Bound<'_, PyAny>,
        spec: Option<&str>,
        level: Option<u8>,
        seed: Option<u64>,
        params: Option<&Bound<'_, PyDict>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let given = [("spec", spec.is_some()), ("level", level.is_some()), ("seed", seed.is_some()), ("params", false)];
        let game = Game::of_call(&Call { name: "Agent", arguments: &given }, game, params, parameters)?;
        let spec: AgentSpec = match (spec, level) {
            (Some(spec), None) => spec.parse().map_err(agent_error)?,
            (None, Some(level)) => format!("level:{level}").parse().map_err(agent_error)?,
            _ => return Err(value_error("an agent has a spec or a level: give one of them".to_owned())),
        };
        if spec.is_human() {
            return Err(value_error("agent `human`: a person chooses actions with State.play"));
        }
        let rules = &*game.rules;
        let loaded = py.detach(|| game.guarded(|| Loaded::load(&spec, rules)))?.map_err(agent_error)?;
        Self::of_loaded(py, game, loaded, seed.unwrap_or(0), 0)
    }

    /// The spec in full.
    #[getter]
    fn spec(&self) -> String {
        self.loaded.spec.to_string()
    }

    /// The action that the agent plays in a position. Ctrl-C interrupts it.
    fn act(&self, py: Python<'_>, state: PyRef<'_, State>) -> PyResult<u16> {
        let state = state.clone();
        self.check(&state)?;
        let mut inner = self.lock()?;
        Ok(self.choose(py, &mut inner, &state)?.action.0)
    }

    /// What the agent finds in a position. Ctrl-C interrupts it.
    fn analyse(&self, py: Python<'_>, state: PyRef<'_, State>) -> PyResult<Analysis> {
        let state = state.clone();
        self.check(&state)?;
        let mut inner = self.lock()?;
        self.choose(py, &mut inner, &state)
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        let choices = self.lock()?.choices;
        Self::of_loaded(py, self.game.clone(), self.loaded.clone(), self.seed, choices)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__copy__(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.import("turnstone_rl")?.getattr("_restore_agent")?;
        let choices = self.lock()?.choices;
        Ok((restore, (self.game.clone(), self.spec(), self.seed, choices).into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        format!("turnstone.Agent('{}', '{}')", self.game.rules.name(), self.loaded.spec)
    }
}

/// An agent of a pickle, which has made this many choices.
#[pyfunction]
#[pyo3(name = "_restore_agent")]
pub(crate) fn restore_agent(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    spec: &str,
    seed: u64,
    choices: u64,
) -> PyResult<Agent> {
    let mut agent = Agent::new(py, game, Some(spec), None, Some(seed), None, None)?;
    agent.inner.get_mut().unwrap_or_else(PoisonError::into_inner).choices = choices;
    Ok(agent)
}

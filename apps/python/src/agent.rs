//! The class `Agent`: a player of the program from its one-line spec.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use turnstone_agents::{
    Agent as Loaded, AgentSpec, Budget, Leaves, Player, SearchInfo, SearchRequest, TreeSearch, TreeSpec,
};
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::Action;
use turnstone_models::{DeviceError, Instructions};
use turnstone_search::classic::Stop;

use crate::analysis::Analysis;
use crate::errors::{agent_error, value_error};
use crate::game::Game;
use crate::state::State;
use crate::waiting::interruptible;

/// Positions that a network's search evaluates in one batch.
const BATCH: usize = 256;

/// Capacity of the cache of evaluations, in positions.
const CACHED: usize = 1 << 16;

/// An agent from its one-line spec: `Agent("mancala", "az:pretrained,sims=200")`.
///
/// Specs are those of the program: `random`, `minimax:depth=6`, `alphabeta:depth=8`, `alphabeta:time=1s`,
/// `mcts:sims=200`, `az:<checkpoint or run folder>,sims=100`, `az:pretrained`, `exact:<folder of tables>`,
/// `engine:<options>:<command line>`. The agent plays from any position and remembers none. `level=3` in place of a spec is
/// an agent of measured strength, from 1, which a beginner can beat, to 8; `spec` is then that of the agent that plays it.
///
/// A copy shares the network and continues the random choices. A pickle holds the spec in place of the network: where it is
/// loaded, `az:` reads its checkpoint again.
///
/// Args:
///     game: name of a game, or a `Game`.
///     spec: the agent.
///     level: number of a level of the game, in place of a spec.
///     seed: of random choices.
///     params: parameters of the game.
#[pyclass(frozen, module = "turnstone")]
pub(crate) struct Agent {
    /// The game.
    #[pyo3(get)]
    game: Game,
    loaded: Loaded,
    seed: u64,
    inner: Mutex<Inner>,
}

struct Inner {
    player: Box<dyn Player>,
    /// Number of choices so far: each has a random stream of its own.
    choices: u64,
    /// Searches a position, where the agent is a search with a network and a fixed number of simulations.
    analyser: Option<Box<dyn TreeSearch>>,
}

impl Agent {
    /// An agent that has made this many choices.
    fn of_loaded(py: Python<'_>, game: Game, loaded: Loaded, seed: u64, choices: u64) -> PyResult<Self> {
        let player = py.detach(|| game.guarded(|| loaded.player(&*game.rules)))?.map_err(agent_error)?;
        Ok(Self { game, loaded, seed, inner: Mutex::new(Inner { player, choices, analyser: None }) })
    }

    /// Tree and simulations of an agent with a network whose search can be shown.
    fn tree(&self) -> Option<(TreeSpec, u32)> {
        match self.loaded.spec {
            // The moves of one with a temperature are drawn, which the search does not show.
            AgentSpec::Az { tree, .. } if tree.temperature() == 0.0 => match tree.budget {
                Budget::Simulations(simulations) if simulations > 0 => Some((tree, simulations)),
                _ => None,
            },
            _ => None,
        }
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

    /// Lets player or analyser work; an exception of rules in Python leaves new ones.
    fn playing<T>(
        &self,
        py: Python<'_>,
        inner: &mut Inner,
        work: impl FnOnce(&mut Inner) -> PyResult<T>,
    ) -> PyResult<T> {
        let result = self.game.guarded(|| work(inner));
        if result.is_err() {
            inner.analyser = None;
            let player = py.detach(|| self.game.guarded(|| self.loaded.player(&*self.game.rules)))?;
            inner.player = player.map_err(agent_error)?;
        }
        result?
    }

    /// Lets the player choose, and returns the last that it reported.
    fn choose(&self, py: Python<'_>, inner: &mut Inner, state: &State) -> PyResult<(Action, Option<SearchInfo>)> {
        let mut rng: Stream = stream(self.seed, Purpose::Play, [inner.choices, 0]);
        inner.choices += 1;
        let player = &mut inner.player;
        if self.loaded.spec == AgentSpec::Random {
            let action = player.choose(&state.state, &mut rng);
            return action.map(|action| (action, None)).map_err(|fault| PyRuntimeError::new_err(fault.to_string()));
        }
        let stop = Stop::default();
        let flag = stop.clone();
        let chosen = interruptible(
            py,
            move || flag.raise(),
            || {
                player.new_game(&state.state, &mut rng);
                let mut last = None;
                let mut report = |info: &SearchInfo| last = Some(info.clone());
                // A request with a report is one that the flag can stop.
                let mut request =
                    SearchRequest { control: stop.into(), report: Some(&mut report), ..SearchRequest::default() };
                let chosen = player.search(&state.state, &mut request, &mut rng);
                chosen.map(|action| (action, last))
            },
        )?;
        chosen.map_err(|fault| PyRuntimeError::new_err(format!("{}: {fault}", self.loaded.spec)))
    }
}

#[pymethods]
impl Agent {
    #[new]
    #[pyo3(signature = (game, spec = None, *, level = None, seed = 0, **params))]
    fn new(
        py: Python<'_>,
        game: &Bound<'_, PyAny>,
        spec: Option<&str>,
        level: Option<u8>,
        seed: u64,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let game = Game::with_params(game, params, &["level", "seed"])?;
        let spec: AgentSpec = match (spec, level) {
            (Some(spec), None) => spec.parse().map_err(agent_error)?,
            (None, Some(level)) => format!("level:{level}").parse().map_err(agent_error)?,
            _ => return Err(value_error("an agent has a spec or a level: give one of them".to_owned())),
        };
        if spec == AgentSpec::Human {
            return Err(value_error("agent `human`: a person chooses actions with State.play"));
        }
        let rules = &*game.rules;
        let loaded = py.detach(|| game.guarded(|| Loaded::load(&spec, rules)))?.map_err(agent_error)?;
        Self::of_loaded(py, game, loaded, seed, 0)
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
        Ok(self.playing(py, &mut inner, |inner| self.choose(py, inner, &state))?.0.0)
    }

    /// What the agent finds in a position. Ctrl-C interrupts it.
    fn analyse(&self, py: Python<'_>, state: PyRef<'_, State>) -> PyResult<Analysis> {
        let state = state.clone();
        self.check(&state)?;
        let mut inner = self.lock()?;
        let (Some((tree, simulations)), Some(network)) = (self.tree(), self.loaded.network()) else {
            let (action, info) = self.playing(py, &mut inner, |inner| self.choose(py, inner, &state))?;
            return Ok(Analysis::of_agent(state, action, info));
        };
        let found = self.playing(py, &mut inner, |inner| {
            if inner.analyser.is_none() {
                let instructions = Instructions::best();
                let leaves = Leaves::Network { network, tree: &tree, batch: BATCH, instructions };
                inner.analyser = Some(self.game.rules.tree_search(leaves, CACHED).map_err(value_error)?);
            }
            let analyser = inner.analyser.as_mut().expect("it was just made");
            let stop = Stop::default();
            let flag = stop.clone();
            interruptible(
                py,
                move || flag.raise(),
                || {
                    analyser.analyse(0, &state.state, simulations, stop);
                    while analyser.searching() > 0 {
                        analyser.advance(&mut Vec::new()).inspect_err(|_| analyser.clear())?;
                    }
                    Ok::<_, DeviceError>(analyser.analysis(0))
                },
            )
        })?;
        let found = found.map_err(|fault| PyRuntimeError::new_err(format!("{}: {fault}", self.loaded.spec)))?;
        Ok(Analysis::of_tree(state, &found))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        let choices = self.lock()?.choices;
        Self::of_loaded(py, self.game.clone(), self.loaded.clone(), self.seed, choices)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__copy__(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.import("turnstone")?.getattr("_restore_agent")?;
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
    let mut agent = Agent::new(py, game, Some(spec), None, seed, None)?;
    agent.inner.get_mut().unwrap_or_else(PoisonError::into_inner).choices = choices;
    Ok(agent)
}

//! The class `Agent`: a player of the program from its one-line spec.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use turnstone_agents::{
    Agent as Loaded, AgentSpec, Budget, Leaves, LoadedNetwork, Player, PlayerFault, SearchInfo, SearchRequest,
    TreeSearch, TreeSpec,
};
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::Action;
use turnstone_models::{DeviceError, Instructions};
use turnstone_search::classic::Stop;

use crate::analysis::Analysis;
use crate::errors::{agent_error, value_error};
use crate::game::{Call, Game};
use crate::state::State;

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
    /// Absent while it plays, and after an exception.
    player: Option<Box<dyn Player>>,
    /// Number of choices so far: each has a random stream of its own.
    choices: u64,
    /// Searches a position, where the agent is a search with a network and a fixed number of simulations.
    analyser: Option<Box<dyn TreeSearch>>,
}

impl Agent {
    /// An agent that has made this many choices.
    fn of_loaded(py: Python<'_>, game: Game, loaded: Loaded, seed: u64, choices: u64) -> PyResult<Self> {
        let player = Some(Self::player(py, &game, &loaded)?);
        Ok(Self { game, loaded, seed, inner: Mutex::new(Inner { player, choices, analyser: None }) })
    }

    fn player(py: Python<'_>, game: &Game, loaded: &Loaded) -> PyResult<Box<dyn Player>> {
        py.detach(|| game.guarded(|| loaded.player(&*game.rules)))?.map_err(agent_error)
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

    /// Lets the player choose, and returns the last that it reported.
    fn choose(&self, py: Python<'_>, inner: &mut Inner, state: &State) -> PyResult<(Action, Option<SearchInfo>)> {
        let (game, state) = (self.game.clone(), state.state.clone());
        let mut rng: Stream = stream(self.seed, Purpose::Play, [inner.choices, 0]);
        inner.choices += 1;
        let mut player = match inner.player.take() {
            Some(player) => player,
            None => Self::player(py, &self.game, &self.loaded)?,
        };
        let fault = |fault: PlayerFault| PyRuntimeError::new_err(format!("{}: {fault}", self.loaded.spec));
        if self.loaded.spec == AgentSpec::Random {
            let action = game.guarded(|| player.choose(&state, &mut rng))?;
            inner.player = Some(player);
            return action.map(|action| (action, None)).map_err(fault);
        }
        let stop = Stop::default();
        let flag = stop.clone();
        let work = move || {
            player.new_game(&state, &mut rng);
            let mut last = None;
            let mut report = |info: &SearchInfo| last = Some(info.clone());
            // A request with a report is one that the flag can stop.
            let mut request =
                SearchRequest { control: stop.into(), report: Some(&mut report), ..SearchRequest::default() };
            let chosen = player.search(&state, &mut request, &mut rng);
            (player, chosen.map(|action| (action, last)))
        };
        let (player, chosen) = self.game.interruptible(py, move || flag.raise(), work)?;
        inner.player = Some(player);
        chosen.map_err(fault)
    }

    /// Searches a position with the agent's tree.
    fn search(
        &self,
        py: Python<'_>,
        inner: &mut Inner,
        state: State,
        (tree, simulations): (TreeSpec, u32),
        network: &LoadedNetwork,
    ) -> PyResult<Analysis> {
        let mut analyser = match inner.analyser.take() {
            Some(analyser) => analyser,
            None => {
                let instructions = Instructions::best();
                let leaves = Leaves::Network { network, tree: &tree, batch: BATCH, instructions };
                self.game.rules.tree_search(leaves, CACHED).map_err(value_error)?
            }
        };
        let (stop, root) = (Stop::default(), state.state.clone());
        let flag = stop.clone();
        let work = move || {
            analyser.analyse(0, &root, simulations, stop);
            while analyser.searching() > 0 {
                analyser.advance(&mut Vec::new()).inspect_err(|_| analyser.clear())?;
            }
            let found = analyser.analysis(0);
            Ok::<_, DeviceError>((analyser, found))
        };
        let found = self.game.interruptible(py, move || flag.raise(), work)?;
        let (analyser, found) =
            found.map_err(|fault| PyRuntimeError::new_err(format!("{}: {fault}", self.loaded.spec)))?;
        inner.analyser = Some(analyser);
        Ok(Analysis::of_tree(state, &found))
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
        if spec == AgentSpec::Human {
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
        Ok(self.choose(py, &mut inner, &state)?.0.0)
    }

    /// What the agent finds in a position. Ctrl-C interrupts it.
    fn analyse(&self, py: Python<'_>, state: PyRef<'_, State>) -> PyResult<Analysis> {
        let state = state.clone();
        self.check(&state)?;
        let mut inner = self.lock()?;
        if let (Some(tree), Some(network)) = (self.tree(), self.loaded.network()) {
            return self.search(py, &mut inner, state, tree, network);
        }
        let (action, info) = self.choose(py, &mut inner, &state)?;
        Ok(Analysis::of_agent(state, action, info))
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
    let mut agent = Agent::new(py, game, Some(spec), None, Some(seed), None, None)?;
    agent.inner.get_mut().unwrap_or_else(PoisonError::into_inner).choices = choices;
    Ok(agent)
}

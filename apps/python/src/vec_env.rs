//! The class `VecEnv`: many games that write into NumPy arrays.

use std::sync::{Mutex, MutexGuard};

use numpy::ndarray::{Dimension, IntoDimension};
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArray4, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use turnstone_env::{Action, AnyState, AutoReset, VecBuffers};

use crate::arrays::{expect_shape, integers};
use crate::errors::{game_error, illegal_action, value_error, within};
use crate::game::{Call, Game};
use crate::state::{Outcome, State};
use crate::stepping::{Stepping, auto_reset, auto_reset_name};

/// Largest number of envs.
const MOST: u32 = 1 << 20;

/// Many games of one kind, stepped together into NumPy arrays: `VecEnv("konane", 1024)`.
///
/// Both players are played by the caller: the action of an env is that of `to_play`. `reset` and `step` return the same
/// arrays every time and write them in place, without the GIL and without a copy.
///
/// Args:
///     game: name of a game, or a `Game`.
///     num_envs: number of games (1 to 1048576).
///     threads: number of threads that step the games (1 to 1024). They do not change what happens in the games. More than
///         one pays off for thousands of games on free cores.
///     autoreset_mode: when a game that has ended starts anew, as in Gymnasium 1.x, whose `AutoresetMode` it may be:
///         `next_step` (the step that ends a game returns its last observation, and the next step ignores the action, whose
///         mask is all true), `same_step` (the step that ends a game returns the first observation of the next one), or
///         `disabled`.
///     params: parameters of the game as a dictionary.
///     parameters: the same as keyword arguments, in place of `params`.
#[pyclass(frozen, module = "turnstone_rl")]
pub(crate) struct VecEnv {
    /// The game.
    #[pyo3(get)]
    game: Game,
    /// Number of games.
    #[pyo3(get)]
    num_envs: usize,
    /// Number of threads that step the games.
    #[pyo3(get)]
    threads: usize,
    auto_reset: AutoReset,
    inner: Mutex<Stepping>,
    /// float32 [num_envs, planes, height, width], each seen by its player to move. Written in place.
    #[pyo3(get)]
    observations: Py<PyArray4<f32>>,
    /// bool [num_envs, actions]: the legal actions. Written in place.
    #[pyo3(get)]
    masks: Py<PyArray2<bool>>,
    /// uint8 [num_envs]: the player to move. Written in place.
    #[pyo3(get)]
    to_play: Py<PyArray1<u8>>,
    /// float32 [num_envs, 2]: the rewards of the last step for both players. Written in place.
    #[pyo3(get)]
    rewards: Py<PyArray2<f32>>,
    /// bool [num_envs]: a rule ended the game in the last step. Written in place.
    #[pyo3(get)]
    terminated: Py<PyArray1<bool>>,
    /// bool [num_envs]: a limit on the number of plies ended the game in the last step. Written in place.
    #[pyo3(get)]
    truncated: Py<PyArray1<bool>>,
    /// What `reset` and `step` return: the arrays above, always the same objects.
    on_reset: Py<PyTuple>,
    on_step: Py<PyTuple>,
}

#[pymethods]
impl VecEnv {
    #[new]
    #[pyo3(
        signature = (game, num_envs, *, threads = None, autoreset_mode = None, params = None, **parameters),
        text_signature = "(game, num_envs, *, threads=1, autoreset_mode='next_step', params=None, **parameters)"
    )]
    fn new(
        py: Python<'_>,
        game: &Bound<'_, PyAny>,
        num_envs: i64,
        threads: Option<i64>,
        autoreset_mode: Option<&Bound<'_, PyAny>>,
        params: Option<&Bound<'_, PyDict>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let given = [
            ("num_envs", true),
            ("threads", threads.is_some()),
            ("autoreset_mode", autoreset_mode.is_some()),
            ("params", false),
        ];
        let game = Game::of_call(&Call { name: "VecEnv", arguments: &given }, game, params, parameters)?;
        let num_envs = within("num_envs", num_envs, 1, MOST)? as usize;
        let threads = within("threads", threads.unwrap_or(1), 1, 1024)? as usize;
        Self::with(py, game, num_envs, threads, autoreset_mode.map_or(Ok(AutoReset::NextStep), auto_reset)?)
    }

    /// When a game that has ended starts anew: `next_step`, `same_step` or `disabled`.
    #[getter]
    fn autoreset_mode(&self) -> &'static str {
        auto_reset_name(self.auto_reset)
    }

    /// Starts new games, only where `reset_mask` (bool [num_envs]) is true if it is given, and returns the observations
    /// and an info with `action_mask` (`masks` as int8, as Gymnasium's spaces take it) and `to_play`. A seed restarts the random streams of `sample`. The first reset starts
    /// all games. They start at `positions`, a `State` or None for each env, where there is one.
    #[pyo3(signature = (seed = None, reset_mask = None, positions = None))]
    fn reset(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        reset_mask: Option<&Bound<'_, PyAny>>,
        positions: Option<Vec<Option<PyRef<'_, State>>>>,
    ) -> PyResult<Py<PyTuple>> {
        let mut positions = positions.map(|positions| self.positions(positions)).transpose()?;
        let which: Option<Vec<bool>> = match reset_mask {
            None => None,
            Some(mask) => {
                let mask: Vec<bool> = mask.extract()?;
                if mask.len() != self.num_envs {
                    let (given, envs) = (mask.len(), self.num_envs);
                    return Err(value_error(format!("reset_mask has {given} entries for {envs} envs")));
                }
                if !self.inner()?.is_reset && mask.contains(&false) {
                    return Err(value_error("reset_mask leaves games out, but the first reset starts all"));
                }
                Some(mask)
            }
        };
        let which = |env: usize| which.as_ref().is_none_or(|mask| mask[env]);
        positions.iter_mut().flatten().enumerate().for_each(|(env, position)| drop(position.take_if(|_| !which(env))));
        self.with_buffers(py, |inner, out| {
            inner.game_batch.reset(seed, &which, out);
            positions.iter().for_each(|positions| inner.game_batch.set(positions, out));
            inner.is_reset = true;
        })?;
        Ok(self.on_reset.clone_ref(py))
    }

    /// Starts a new game from a position in every env that has one: `positions` is a `State` or None for each env. Returns
    /// what `reset` returns. Raises RuntimeError before the first reset.
    fn set(&self, py: Python<'_>, positions: Vec<Option<PyRef<'_, State>>>) -> PyResult<Py<PyTuple>> {
        let positions = self.positions(positions)?;
        if !self.inner()?.is_reset {
            return Err(PyRuntimeError::new_err("reset the VecEnv before the first positions are set"));
        }
        self.with_buffers(py, |inner, out| inner.game_batch.set(&positions, out))?;
        Ok(self.on_reset.clone_ref(py))
    }

    /// Plays one action in every env, an array of integers [num_envs], and returns `(observations, rewards, terminated,
    /// truncated, info)`: always the same arrays.
    ///
    /// Raises IllegalActionError if an action is not legal; it names the env, and nothing is played. Raises RuntimeError
    /// before the first reset.
    fn step(&self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<Py<PyTuple>> {
        // The actions of `sample` need no conversion.
        if let Ok(listed) = actions.cast::<PyArray1<u16>>()
            && listed.is_c_contiguous()
            && listed.len() == self.num_envs
        {
            return self.step_with(py, listed.try_readonly()?.as_slice()?);
        }
        let actions = integers(actions, "actions")?;
        expect_shape(actions.as_untyped(), &[self.num_envs], "actions")?;
        self.step_with(py, actions.as_slice()?)
    }

    /// A uniformly random legal action for each env, int64 [num_envs].
    fn sample<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let mut inner = self.inner()?;
        let Stepping { game_batch, actions, .. } = &mut *inner;
        game_batch.sample(actions);
        Ok(PyArray1::from_iter(py, actions.iter().map(|action| i64::from(action.0))))
    }

    /// The position in an env.
    fn state(&self, env: i64) -> PyResult<State> {
        let env = self.env(env)?;
        Ok(State::new(self.game.clone(), self.inner()?.game_batch.state(env)))
    }

    /// The last position of the game that ended last in an env since the reset; None without one.
    fn final_state(&self, env: i64) -> PyResult<Option<State>> {
        let env = self.env(env)?;
        Ok(self.inner()?.game_batch.final_state(env).map(|state| State::new(self.game.clone(), state)))
    }

    /// How the game that ended in the last step of an env ended; None if none ended.
    fn outcome(&self, env: i64) -> PyResult<Option<Outcome>> {
        let env = self.env(env)?;
        Ok(self.inner()?.game_batch.outcome(env).map(Outcome))
    }

    fn __len__(&self) -> usize {
        self.num_envs
    }

    fn __repr__(&self) -> String {
        let (game, envs, threads) = (self.game.rules.name(), self.num_envs, self.threads);
        format!("turnstone.VecEnv('{game}', {envs}, threads={threads}, autoreset_mode='{}')", self.autoreset_mode())
    }
}

impl VecEnv {
    fn with(py: Python<'_>, game: Game, num_envs: usize, threads: usize, auto_reset: AutoReset) -> PyResult<Self> {
        let inner = Mutex::new(game.guarded(|| Stepping::new(&game, num_envs, threads, auto_reset))?);
        let ([planes, height, width], actions) = (game.shape(), game.rules.spec().actions);
        let (observations, rewards) = (zeros(py, [num_envs, planes, height, width]), zeros(py, [num_envs, 2]));
        let (terminated, truncated) = (zeros(py, [num_envs]), zeros(py, [num_envs]));
        let (masks, to_play) = (zeros(py, [num_envs, actions]), zeros(py, [num_envs]));
        let info = PyDict::new(py);
        // Gymnasium's spaces sample with masks of int8: the same bytes.
        info.set_item("action_mask", masks.bind(py).call_method1("view", ("int8",))?)?;
        info.set_item("to_play", &to_play)?;
        let on_reset = (&observations, &info).into_pyobject(py)?.unbind();
        let on_step = (&observations, &rewards, &terminated, &truncated, &info).into_pyobject(py)?.unbind();
        let envs = Self {
            game,
            num_envs,
            threads,
            auto_reset,
            inner,
            observations,
            masks,
            to_play,
            rewards,
            terminated,
            truncated,
            on_reset,
            on_step,
        };
        envs.with_buffers(py, |inner, out| inner.game_batch.reset(Some(0), &|_| true, out))?;
        Ok(envs)
    }

    fn step_with<T: Copy + Into<i64> + Sync>(&self, py: Python<'_>, actions: &[T]) -> PyResult<Py<PyTuple>> {
        let most = self.game.rules.spec().actions as i64;
        let exists = |action: T| (0..most).contains(&action.into());
        // All are looked at, which is faster than to stop at the first that does not exist.
        if !actions.iter().fold(true, |all, &action| all & exists(action)) {
            let env = actions.iter().position(|&action| !exists(action)).expect("one of them does not exist");
            let (action, last) = (actions[env].into(), most - 1);
            return Err(illegal_action(format!("env {env}: action {action}: the actions are 0 to {last}")));
        }
        if !self.inner()?.is_reset {
            return Err(PyRuntimeError::new_err("reset the VecEnv before the first step"));
        }
        let result = self.with_buffers(py, |inner, out| {
            inner.actions.clear();
            inner.actions.extend(actions.iter().map(|&action| Action(action.into() as u16)));
            inner.step(&self.game, out)
        })?;
        result.map_err(game_error)?;
        Ok(self.on_step.clone_ref(py))
    }

    /// Positions for the envs, in which the game is not over.
    fn positions(&self, given: Vec<Option<PyRef<'_, State>>>) -> PyResult<Vec<Option<AnyState>>> {
        if given.len() != self.num_envs {
            let (given, envs) = (given.len(), self.num_envs);
            return Err(value_error(format!("positions has {given} entries for {envs} envs")));
        }
        let checked = |(env, position): (usize, Option<PyRef<'_, State>>)| {
            let Some(position) = position else { return Ok(None) };
            position.expect_game(&self.game)?;
            if position.is_over()? {
                return Err(value_error(format!("positions[{env}] ({}): the game is over", position.text()?)));
            }
            Ok(Some(position.state.clone()))
        };
        given.into_iter().enumerate().map(checked).collect()
    }

    fn env(&self, env: i64) -> PyResult<usize> {
        usize::try_from(env)
            .ok()
            .filter(|&env| env < self.num_envs)
            .ok_or_else(|| PyIndexError::new_err(format!("env {env}: the envs are 0 to {}", self.num_envs - 1)))
    }

    /// The games, unless another thread is stepping them.
    fn inner(&self) -> PyResult<MutexGuard<'_, Stepping>> {
        self.inner.try_lock().map_err(|_| PyRuntimeError::new_err("the VecEnv is being stepped by another thread"))
    }

    /// Calls `act` with the games and the arrays, without the GIL.
    fn with_buffers<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Stepping, &mut VecBuffers<'_>) -> T + Send,
    ) -> PyResult<T> {
        let mut inner = self.inner()?;
        let mut observations = self.observations.bind(py).try_readwrite()?;
        let mut masks = self.masks.bind(py).try_readwrite()?;
        let mut to_play = self.to_play.bind(py).try_readwrite()?;
        let mut rewards = self.rewards.bind(py).try_readwrite()?;
        let mut terminated = self.terminated.bind(py).try_readwrite()?;
        let mut truncated = self.truncated.bind(py).try_readwrite()?;
        let mut out = VecBuffers {
            observations: observations.as_slice_mut()?,
            masks: masks.as_slice_mut()?,
            rewards: rewards.as_slice_mut()?,
            terminated: terminated.as_slice_mut()?,
            truncated: truncated.as_slice_mut()?,
            movers: to_play.as_slice_mut()?,
        };
        let inner = &mut *inner;
        py.detach(|| {
            // An exception of rules in Python leaves some of the games where they were.
            let was_reset = std::mem::take(&mut inner.is_reset);
            let result = self.game.guarded(|| act(inner, &mut out))?;
            inner.is_reset |= was_reset;
            Ok(result)
        })
    }
}

fn zeros<T: Element, D: Dimension>(py: Python<'_>, shape: impl IntoDimension<Dim = D>) -> Py<PyArray<T, D>> {
    PyArray::zeros(py, shape, false).unbind()
}

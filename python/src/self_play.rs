//! The class `SelfPlay`: endless self-play with a network of the caller.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::PyDict;
use turnstone_env::Spec;
use turnstone_search::TensorFault;
use turnstone_selfplay::{FinishedGame, SearchConfig, SelfPlayConfig, Session, SessionSettings};

use crate::errors::{evaluator_error, value_error};
use crate::evaluate::Leaves;
use crate::game::Game;
use crate::settings;
use crate::state::Outcome;
use crate::waiting::handle_signals;

/// Endless self-play with a network of the caller: an iterator over the `Examples` of finished games.
///
/// `evaluate` is as of `Search`; it is called with the leaves of all games in progress. With several threads it is called
/// from them, one at a time, with the leaves of `concurrent_games / threads` games, while the others search.
///
/// Settings: `simulations`, `method` (`gumbel` or `puct`), `temperature`, `temperature_plies`, `final_temperature`,
/// `opening_plies` (random plies that are not recorded), `full_search_share`, `fast_simulations`, `c_puct`,
/// `fpu_reduction`, `noise_concentration`, `noise_fraction`, `forced_playouts`, `considered`, `c_visit`, `c_scale`, and
/// `cached_positions` (0 by default, since cached evaluations become stale when the network learns).
#[pyclass(frozen, module = "turnstone")]
pub(crate) struct SelfPlay {
    game: Game,
    leaves: Leaves,
    settings: SessionSettings,
    inner: Mutex<Inner>,
}

struct Inner {
    sessions: Vec<Box<dyn Session>>,
    /// Games that have been finished and not been taken yet.
    finished: VecDeque<FinishedGame>,
}

#[pymethods]
impl SelfPlay {
    #[new]
    #[pyo3(signature = (game, evaluate, *, concurrent_games = 256, threads = 1, seed = 0, **settings))]
    fn new(
        game: &Bound<'_, PyAny>,
        evaluate: &Bound<'_, PyAny>,
        concurrent_games: usize,
        threads: usize,
        seed: u64,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let game = Game::of(game, None)?;
        let leaves = Leaves::new(evaluate)?;
        let search = SearchConfig::default();
        // Cached evaluations would be those of a network that has been trained since.
        let self_play = SelfPlayConfig { cached_positions: 0, opening_plies: 0, ..SelfPlayConfig::default() };
        let (search, self_play) = settings::self_play(&search, &self_play, settings)?;
        if !(1..=1024).contains(&threads) {
            return Err(value_error(format!("threads is {threads}, but must be from 1 to 1024")));
        }
        if !(threads..=65_536).contains(&concurrent_games) {
            let range = format!("from {threads} (one per thread) to 65536");
            return Err(value_error(format!("concurrent_games is {concurrent_games}, but must be {range}")));
        }
        let self_play = SelfPlayConfig { threads, concurrent_games: concurrent_games.div_ceil(threads), ..self_play };
        let settings = SessionSettings { search, self_play, seed };
        let inner = Inner { sessions: game.rules.sessions(&settings), finished: VecDeque::new() };
        Ok(Self { game, leaves, settings, inner: Mutex::new(inner) })
    }

    /// The game.
    #[getter]
    fn game(&self) -> Game {
        self.game.clone()
    }

    /// All settings with their values.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let SessionSettings { search, self_play, .. } = &self.settings;
        let text = serde_json::to_string(&(search, self_play)).map_err(value_error)?;
        let sections = py.import("json")?.call_method1("loads", (text,))?;
        let all = sections.get_item(0)?;
        all.call_method1("update", (sections.get_item(1)?,))?;
        for fixed in ["games_per_iteration", "archived_starts", "final_simulations"] {
            all.call_method1("pop", (fixed,))?;
        }
        Ok(all)
    }

    /// Counts so far: positions searched, simulations, evaluations, batches, cache hits, seconds of evaluation.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.lock()?;
        let mut stats = turnstone_selfplay::SelfPlayStats::default();
        inner.sessions.iter().for_each(|session| stats.add(&session.stats()));
        let all = PyDict::new(py);
        all.set_item("positions", stats.positions)?;
        all.set_item("simulations", stats.simulations)?;
        all.set_item("evaluations", stats.cache.evaluations())?;
        all.set_item("batches", stats.cache.batches)?;
        all.set_item("cache_hits", stats.cache.hits)?;
        all.set_item("evaluation_seconds", stats.inference.as_secs_f64())?;
        Ok(all)
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let games = self.games(py, 1)?;
        self.examples(py, &games)
    }

    /// Plays until `games` games have finished, and returns their `Examples`. Clears the cache first. Games in progress
    /// continue with the next call, also after an exception.
    fn play<'py>(&self, py: Python<'py>, games: usize) -> PyResult<Bound<'py, PyAny>> {
        if !(1..=10_000_000).contains(&games) {
            return Err(value_error(format!("games is {games}, but must be from 1 to 10000000")));
        }
        self.clear_cache()?;
        let games = self.games(py, games)?;
        self.examples(py, &games)
    }

    /// Removes all cached evaluations, which is needed when the network has changed.
    fn clear_cache(&self) -> PyResult<()> {
        self.lock()?.sessions.iter_mut().for_each(|session| session.forget());
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.leaves.traverse(&visit)
    }

    fn __repr__(&self) -> String {
        let SelfPlayConfig { concurrent_games, threads, .. } = self.settings.self_play;
        let (name, simulations) = (self.game.rules.name(), self.settings.search.simulations);
        let games = concurrent_games * threads;
        format!("turnstone.SelfPlay('{name}', simulations={simulations}, concurrent_games={games}, threads={threads})")
    }
}

impl SelfPlay {
    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, Inner>> {
        self.inner.try_lock().map_err(|_| PyRuntimeError::new_err("the self-play is being used by another thread"))
    }

    /// The next games that finish. After an exception the games in progress continue where they were.
    fn games(&self, py: Python<'_>, count: usize) -> PyResult<Vec<FinishedGame>> {
        let mut inner = self.lock()?;
        let inner = &mut *inner;
        while inner.finished.len() < count {
            let missing = count - inner.finished.len();
            py.detach(|| self.advance(inner, missing)).map_err(evaluator_error)?;
        }
        Ok(inner.finished.drain(..count).collect())
    }

    /// Steps all sessions until at least one game has finished, or `missing` games where there are several threads.
    fn advance(&self, inner: &mut Inner, missing: usize) -> Result<(), TensorFault> {
        let Inner { sessions, finished } = inner;
        if let [session] = &mut sessions[..] {
            let mut evaluator = self.leaves.evaluator(&self.game);
            let mut games = Vec::new();
            while games.is_empty() {
                self.step(&mut **session, &mut evaluator)?;
                games = session.take_finished();
            }
            finished.extend(games);
            return Ok(());
        }
        let (stop, total) = (AtomicBool::new(false), std::sync::atomic::AtomicUsize::new(0));
        let run = |session: &mut Box<dyn Session>| {
            let mut evaluator = self.leaves.evaluator(&self.game);
            let mut games = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                if let Err(fault) = self.step(&mut **session, &mut evaluator) {
                    stop.store(true, Ordering::Relaxed);
                    return (games, Err(fault));
                }
                let new = session.take_finished();
                if total.fetch_add(new.len(), Ordering::Relaxed) + new.len() >= missing {
                    stop.store(true, Ordering::Relaxed);
                }
                games.extend(new);
            }
            (games, Ok(()))
        };
        let results: Vec<_> = thread::scope(|scope| {
            let run = &run;
            let (first, others) = sessions.split_first_mut().expect("there is at least one session");
            let threads: Vec<_> = others.iter_mut().map(|session| scope.spawn(move || run(session))).collect();
            // Signals are seen by the thread that called, so it works too.
            let own = run(first);
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            std::iter::once(own).chain(threads.into_iter().map(join)).collect()
        });
        let mut outcome = Ok(());
        let mut games = Vec::new();
        for (new, result) in results {
            games.extend(new);
            outcome = outcome.and(result);
        }
        games.sort_by_key(|game| game.number);
        finished.extend(games);
        outcome
    }

    fn step(
        &self,
        session: &mut dyn Session,
        evaluator: &mut crate::evaluate::PyEvaluator<'_>,
    ) -> Result<(), TensorFault> {
        match self.leaves {
            Leaves::Function(_) => session.step(evaluator),
            Leaves::Uniform => {
                session.step_uniform();
                Ok(handle_signals()?)
            }
        }
    }

    /// Training examples of games as arrays.
    fn examples<'py>(&self, py: Python<'py>, games: &[FinishedGame]) -> PyResult<Bound<'py, PyAny>> {
        let spec = self.game.rules.spec();
        let arrays = py.detach(|| Arrays::new(spec, games));
        let rows = arrays.values.len();
        let [planes, height, width] = self.game.shape();
        let options = PyDict::new(py);
        let observations = PyArray1::from_vec(py, arrays.observations).reshape([rows, planes, height, width])?;
        options.set_item("observations", observations)?;
        options.set_item("policies", PyArray1::from_vec(py, arrays.policies).reshape([rows, spec.actions])?)?;
        options.set_item("values", PyArray1::from_vec(py, arrays.values))?;
        options.set_item("masks", PyArray1::from_vec(py, arrays.masks).reshape([rows, spec.actions])?)?;
        options.set_item("search_values", PyArray1::from_vec(py, arrays.search_values))?;
        options.set_item("plies_left", PyArray1::from_vec(py, arrays.plies_left))?;
        options.set_item("game_ends", PyArray1::from_vec(py, arrays.game_ends))?;
        let outcomes: Vec<Outcome> = games.iter().map(|game| Outcome(game.outcome)).collect();
        options.set_item("outcomes", outcomes)?;
        options.set_item("game_lengths", games.iter().map(|game| game.plies).collect::<Vec<u16>>())?;
        py.import("turnstone._examples")?.getattr("Examples")?.call((), Some(&options))
    }
}

/// The recorded positions of some games.
#[derive(Default)]
struct Arrays {
    observations: Vec<f32>,
    policies: Vec<f32>,
    values: Vec<f32>,
    masks: Vec<bool>,
    search_values: Vec<f32>,
    plies_left: Vec<i64>,
    game_ends: Vec<i64>,
}

impl Arrays {
    fn new(spec: &Spec, games: &[FinishedGame]) -> Self {
        let rows: usize = games.iter().map(|game| game.positions.len()).sum();
        let mut arrays = Self {
            observations: vec![0.0; rows * spec.tensor_len()],
            policies: vec![0.0; rows * spec.actions],
            masks: vec![false; rows * spec.actions],
            ..Self::default()
        };
        let mut row = 0;
        for game in games {
            for i in 0..game.positions.len() {
                let position = game.positions.position(i);
                spec.expand(
                    position.features,
                    &mut arrays.observations[row * spec.tensor_len()..][..spec.tensor_len()],
                );
                for (&index, &share) in position.policy_indices.iter().zip(position.policy) {
                    arrays.policies[row * spec.actions + usize::from(index)] = share;
                    arrays.masks[row * spec.actions + usize::from(index)] = true;
                }
                let sign = position.mover.sign();
                arrays.values.push(sign * f32::from(position.result));
                arrays.search_values.push(sign * position.root.value);
                arrays.plies_left.push(i64::from(position.plies_left));
                row += 1;
            }
            arrays.game_ends.push(row as i64);
        }
        arrays
    }
}

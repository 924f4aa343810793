//! The class `SelfPlay`: endless self-play with a network of the caller.

use std::collections::VecDeque;
use std::iter::StepBy;
use std::ops::RangeFrom;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::PyDict;
use turnstone_base::settings;
use turnstone_base::settings::{Setting, Settings};
use turnstone_env::Spec;
use turnstone_search::{Fault, Stop};
use turnstone_selfplay::{FinishedGame, GameSettings, SearchConfig, SelfPlayConfig, Session};

use crate::errors::{evaluator_error, is_rules_error, value_error, within};
use crate::evaluate::Leaves;
use crate::game::Game;
use crate::settings as arguments;
use crate::state::Outcome;

settings! {
    /// Keyword arguments of `SelfPlay`.
    #[derive(Clone, Debug)]
    struct SelfPlayArguments {
        /// Games played at the same time, at least one per thread.
        concurrent_games: usize = 256, 1..=65_536;
        /// Threads that search.
        threads: usize = 1, 1..=1024;
        /// Seed of all random choices.
        seed: u64 = 0, 0..;
        /// The search of a run's config.
        search: SearchConfig;
        /// The games of a run's config. Cached evaluations would be those of a network that has been trained since.
        self_play: SelfPlayConfig = SelfPlayConfig { cached_positions: 0, opening_plies: 0, ..SelfPlayConfig::default() };
    }
}

/// Keys of configs that are no arguments: those of a run, of agents at play and of the program's own networks.
const NO_ARGUMENTS: [&str; 6] =
    ["games_per_iteration", "final_simulations", "play_proof_nodes", "precision", "device", "openings"];

impl SelfPlayArguments {
    /// The keyword arguments. `concurrent_games` and `threads` of the config are those of a worker.
    fn keywords(&mut self) -> Vec<Setting<'_>> {
        let mut all: Vec<Setting<'_>> = Vec::new();
        for setting in self.settings() {
            if !NO_ARGUMENTS.contains(&setting.name()) && all.iter().all(|other| other.name() != setting.name()) {
                all.push(setting);
            }
        }
        all
    }
}

/// Endless self-play with a network of the caller: an iterator over the `Examples` of finished games.
///
/// `evaluate` is as of `Search`; it is called with the leaves of all games in progress. With several threads it is called
/// from them, one at a time, with the leaves of `concurrent_games / threads` games, while the others search.
///
/// Args:
///     game: name of a game, or a `Game`.
///     evaluate: the network.
///     concurrent_games: Games played at the same time, at least one per thread and at most 65536.
///     threads: Threads that search (1 to 1024). They change neither the games nor their number.
///     seed: of all random choices.
///     simulations: Simulations per move (1 to 1000000).
///     method: Search algorithm (`gumbel` or `puct`).
///     c_puct: PUCT: weight of the exploration term (0 to 100).
///     fpu_reduction: PUCT: first-play-urgency reduction (0 to 2).
///     noise_concentration: PUCT: total concentration of the root's Dirichlet noise, spread over the legal actions (0.001
///         to 10000).
///     noise_fraction: PUCT: share of the noise in the root's priors (0 to 1); 0 disables it.
///     forced_playouts: PUCT: weight of forced playouts, whose visits are pruned from the policy target (0 to 100); 0
///         disables them.
///     considered: Gumbel: number of actions considered at the root (1 to 65536).
///     c_visit: Gumbel: added to the greatest visit count in the scale of the values relative to the logits (0 to 10000).
///     c_scale: Gumbel: factor in the scale of the values relative to the logits (0 to 1000).
///     proof_nodes: Positions that a proof-number search may visit at every leaf (0 to 100000); 0 searches for no proofs.
///     cached_positions: Capacity, in positions, of each worker's evaluation cache (0 to 67108864); 0 disables it. Cached
///         evaluations become stale when the network learns.
///     opening_plies: Maximum number of uniformly random plies at the start of a game, which are not recorded (0 to 1000).
///     temperature: Temperature of the move choice in the first `temperature_plies` plies (0 to 10).
///     temperature_plies: Number of plies, counted from the start of the game, with that temperature.
///     final_temperature: Temperature of the later plies (0 to 10); 0 plays the best move.
#[pyclass(frozen, module = "turnstone_rl")]
pub(crate) struct SelfPlay {
    /// The game.
    #[pyo3(get)]
    game: Game,
    leaves: Arc<Leaves>,
    settings: GameSettings,
    inner: Mutex<Inner>,
}

struct Inner {
    sessions: Vec<Numbered>,
    /// Games that have been finished and not been taken yet.
    finished: VecDeque<FinishedGame>,
    /// Whether an exception of rules in Python has ended the games in progress.
    is_broken: bool,
}

/// A session, and the numbers of its games: every n-th of n sessions, so that a game does not depend on their scheduling.
struct Numbered {
    session: Box<dyn Session>,
    numbers: StepBy<RangeFrom<usize>>,
}

/// How far the sessions of several threads are.
struct Progress {
    wanted: usize,
    finished: AtomicUsize,
    stop: Stop,
}

#[pymethods]
impl SelfPlay {
    #[new]
    #[pyo3(
        signature = (game, evaluate, *, **settings),
        text_signature = "(game, evaluate, *, concurrent_games=256, threads=1, seed=0, simulations=64, method='gumbel', \
            c_puct=1.25, fpu_reduction=0.2, noise_concentration=10.0, noise_fraction=0.25, forced_playouts=2.0, \
            considered=16, c_visit=50.0, c_scale=0.7, proof_nodes=0, cached_positions=0, opening_plies=0, \
            temperature=1.0, temperature_plies=12, final_temperature=0.3)"
    )]
    fn new(
        game: &Bound<'_, PyAny>,
        evaluate: &Bound<'_, PyAny>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (game, given) = (Game::of(game)?, settings);
        let leaves = Arc::new(Leaves::new(evaluate)?);
        let mut asked = SelfPlayArguments::default();
        arguments::take("SelfPlay", asked.keywords(), given)?;
        let SelfPlayArguments { concurrent_games, threads, seed, search, self_play } = asked;
        if concurrent_games < threads {
            let range = format!("from {threads} (one per thread) to 65536");
            return Err(value_error(format!("concurrent_games is {concurrent_games}, but must be {range}")));
        }
        let self_play = SelfPlayConfig { threads, concurrent_games: concurrent_games.div_ceil(threads), ..self_play };
        let settings = GameSettings::new(&search, &self_play, seed, 0);
        match game.guarded(|| game.warn_if_endless()).flatten() {
            Err(error) if !is_rules_error(evaluate.py(), &error) => return Err(error),
            _ => {} // `play` raises an exception of the rules
        }
        let function = leaves.tensors(&game);
        let sessions = game.guarded(|| game.rules.sessions(&settings, function.as_ref()))?;
        let numbered = |(first, session)| Numbered { session, numbers: (first..).step_by(threads) };
        let sessions = sessions.into_iter().enumerate().map(numbered).collect();
        let inner = Inner { sessions, finished: VecDeque::new(), is_broken: false };
        Ok(Self { game, leaves, settings, inner: Mutex::new(inner) })
    }

    /// All settings with their values but the seed, keyword arguments of another `SelfPlay`.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let GameSettings { search, self_play, .. } = &self.settings;
        let (concurrent_games, threads) = (self.concurrent_games(), self_play.threads);
        let (search, self_play) = (search.clone(), self_play.clone());
        let mut all = SelfPlayArguments { concurrent_games, threads, seed: 0, search, self_play };
        let all = arguments::dict(py, &all.keywords())?;
        all.del_item("seed")?;
        Ok(all)
    }

    /// Counts so far: positions searched, simulations, evaluations, batches, cache hits, seconds of evaluation.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.lock()?;
        let mut stats = turnstone_selfplay::SelfPlayStats::default();
        inner.sessions.iter().for_each(|session| stats.add(&session.session.stats()));
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
        within("games", games, 1, 10_000_000)?;
        self.clear_cache()?;
        let games = self.games(py, games)?;
        self.examples(py, &games)
    }

    /// Removes all cached evaluations, which is needed when the network has changed.
    fn clear_cache(&self) -> PyResult<()> {
        self.lock()?.sessions.iter_mut().for_each(|session| session.session.forget());
        Ok(())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(arguments::no_copy("SelfPlay"))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.leaves.traverse(&visit)
    }

    fn __repr__(&self) -> String {
        let (name, simulations) = (self.game.rules.name(), self.settings.search.simulations);
        let (games, threads) = (self.concurrent_games(), self.settings.self_play.threads);
        format!("turnstone.SelfPlay('{name}', simulations={simulations}, concurrent_games={games}, threads={threads})")
    }
}

impl SelfPlay {
    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, Inner>> {
        self.inner.try_lock().map_err(|_| self.leaves.in_use("SelfPlay"))
    }

    /// Games at the same time, over all threads.
    fn concurrent_games(&self) -> usize {
        self.settings.self_play.concurrent_games * self.settings.self_play.threads
    }

    /// The next games that finish. After an exception the games in progress continue where they were.
    fn games(&self, py: Python<'_>, count: usize) -> PyResult<Vec<FinishedGame>> {
        let mut inner = self.lock()?;
        let inner = &mut *inner;
        while inner.finished.len() < count {
            if inner.is_broken {
                let fault = "an exception of the game's rules has ended the games in progress: make another SelfPlay";
                return Err(PyRuntimeError::new_err(fault));
            }
            let missing = count - inner.finished.len();
            let advanced = py.detach(|| self.game.guarded(|| self.advance(inner, missing)));
            inner.is_broken = advanced.is_err();
            advanced?.map_err(|fault| evaluator_error(py, &fault))?;
        }
        Ok(inner.finished.drain(..count).collect())
    }

    /// Steps all sessions until at least one game has finished, or `missing` games where there are several threads.
    fn advance(&self, inner: &mut Inner, missing: usize) -> Result<(), Fault> {
        let Inner { sessions, finished, .. } = inner;
        if self.game.python().is_some() {
            return self.advance_in_turn(sessions, finished, missing);
        }
        let (first, others) = sessions.split_first_mut().expect("there is at least one session");
        let is_alone = others.is_empty();
        let wanted = if is_alone { 1 } else { missing };
        let progress = Progress { wanted, finished: AtomicUsize::new(0), stop: Stop::default() };
        let results: Vec<_> = thread::scope(|scope| {
            let run = |session| self.step_while(&progress, session);
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
        if !is_alone {
            games.sort_by_key(|game| game.number);
        }
        finished.extend(games);
        outcome
    }

    /// [`SelfPlay::advance`] without other threads: they would wait for one another where the rules are in Python, and Ctrl-C
    /// for them.
    fn advance_in_turn(
        &self,
        sessions: &mut [Numbered],
        finished: &mut VecDeque<FinishedGame>,
        missing: usize,
    ) -> Result<(), Fault> {
        let wanted = if sessions.len() == 1 { 1 } else { missing };
        let mut games = Vec::new();
        let mut outcome = Ok(());
        while outcome.is_ok() && games.len() < wanted {
            for session in &mut *sessions {
                outcome = outcome.and_then(|()| self.step(session));
                games.extend(session.session.take_finished());
            }
        }
        if sessions.len() > 1 {
            games.sort_by_key(|game: &FinishedGame| game.number);
        }
        finished.extend(games);
        outcome
    }

    /// Steps a session until all have finished enough games, and returns those of this one.
    fn step_while(&self, progress: &Progress, session: &mut Numbered) -> (Vec<FinishedGame>, Result<(), Fault>) {
        let mut games = Vec::new();
        while !progress.stop.is_raised() {
            if let Err(fault) = self.step(session) {
                progress.stop.raise();
                return (games, Err(fault));
            }
            let new = session.session.take_finished();
            if progress.finished.fetch_add(new.len(), Ordering::Relaxed) + new.len() >= progress.wanted {
                progress.stop.raise();
            }
            games.extend(new);
        }
        (games, Ok(()))
    }

    fn step(&self, Numbered { session, numbers }: &mut Numbered) -> Result<(), Fault> {
        session.step(self.settings.self_play.concurrent_games, &mut || numbers.next(), &Default::default())?;
        self.leaves.handle_signals()
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
        py.import("turnstone_rl._examples")?.getattr("Examples")?.call((), Some(&options))
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

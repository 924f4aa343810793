//! Self-play: every worker steps many games at once and evaluates their leaves in one batch.
//!
//! A worker that has finished a game takes the next one that no worker has begun. Every game has a random stream of its
//! own, and an evaluation does not depend on the rest of its batch, so that the games do not depend on the scheduling of
//! the threads. Finished games are collected in the order of their numbers.

mod task;
mod stats;
mod session;
mod transcript;

pub use session::{FinishedGame, Session};
pub use stats::{SelfPlayCounters, SelfPlayStats};
pub(crate) use task::random_opening;
pub use task::{GameSettings, MOST_PLIES, Task};
pub use transcript::TranscriptDecoder;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use turnstone_agents::{GpuBackend, NetworkBackend, random_observations, shape};
use turnstone_env::{Notation, Outcome};
use turnstone_models::{ComputeDevice, GpuInference, NetworkError, QuantisedNetwork};
use turnstone_search::Stop;
use turnstone_search::{Backend, Fault, Queued, TensorFunction, Tensors, Uniform};

use self::session::GamesInSeats;
use self::task::GameContext;
use crate::replay::Shard;

/// Games of one iteration.
#[derive(Clone, Debug)]
pub struct SelfPlayGames {
    /// All recorded positions, in the order of the games.
    pub shard: Shard,
    /// Final outcome and number of plies of each game.
    pub ends: Vec<(Outcome, u16)>,
    /// Counters and times of the iteration.
    pub stats: SelfPlayStats,
}

/// Plays the games of one iteration. Returns `None` if `stop` was raised before they were finished.
///
/// # Errors
/// The weights do not match the network, or the GPU cannot be used or failed.
pub(crate) fn play<G: Notation>(
    game: &G,
    task: &Task,
    progress: &SelfPlayCounters,
    stop: &Stop,
) -> Result<Option<SelfPlayGames>, Fault> {
    let rules = Arc::new(GameContext::new(game, &task.settings));
    let config = &task.settings.self_play;
    // At first every thread gets an equal share, also if the games are too few for all seats.
    let seats = |threads: usize| config.concurrent_games.min(config.games_per_iteration.div_ceil(threads));
    match config.device {
        ComputeDevice::Cpu => {
            let backends = network_backends(game, task, config.workers()).map_err(Fault::new)?;
            play_with(&rules, backends, seats(config.workers()), progress, stop)
        }
        ComputeDevice::Gpu(number) => {
            // While one half of the threads waits for the GPU the other one searches.
            let (spec, threads, most) = (game.spec(), 2 * config.workers(), config.gpu_batch());
            let (weights, precision) = (&task.weights, config.precision);
            let network = GpuInference::new(weights, &task.network, &shape(&spec), number, precision, most);
            let network = GpuBackend::new(spec, network.map_err(Fault::new)?);
            let backends = Queued::share(vec![network.clone(), network], most, threads);
            play_with(&rules, backends, config.gpu_seats(), progress, stop)
        }
    }
}

/// Plays all games of a task, in a thread for each backend, with up to `seats` games at once in each. Returns `None` if `stop`
/// was set before they were finished.
fn play_with<G: Notation, B: Backend<G> + Send>(
    rules: &Arc<GameContext<G>>,
    backends: Vec<B>,
    seats: usize,
    progress: &SelfPlayCounters,
    stop: &Stop,
) -> Result<Option<SelfPlayGames>, Fault> {
    let GameSettings { self_play, iteration, .. } = &rules.settings;
    let most = self_play.games_per_iteration;
    // The cache of a worker is shared out where it has two threads.
    let cached = self_play.cached_positions.div_ceil(backends.len().div_ceil(self_play.workers()));
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let play = |backend: B| {
        let start = Instant::now();
        let mut session = GamesInSeats::new(rules, backend, cached);
        let mut next = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&number| number < most);
        loop {
            if stop.is_raised() || failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match session.step(seats, &mut next, progress) {
                Ok(true) => {}
                Ok(false) => break,
                Err(fault) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(fault);
                }
            }
        }
        let stats = SelfPlayStats { time: start.elapsed(), ..session.stats() };
        Ok(Some((session.take_finished(), stats)))
    };
    let parts = thread::scope(|scope| {
        let play = &play;
        let threads: Vec<_> = backends.into_iter().map(|backend| scope.spawn(move || play(backend))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect::<Result<Vec<_>, Fault>>()
    })?;
    let Some(parts) = parts.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let mut stats = SelfPlayStats::default();
    parts.iter().for_each(|(_, part)| stats.add(part));
    stats.idle = idle(&parts.iter().map(|(_, part)| part.time).collect::<Vec<_>>());
    let finished = parts.into_iter().flat_map(|(games, _)| games).collect();
    Ok(Some(SelfPlayGames::new(*iteration, rules.game.spec().features(), finished, stats)))
}

impl SelfPlayGames {
    /// Collects all games of an iteration, in any order.
    #[must_use]
    pub fn new(iteration: u64, features: usize, mut finished: Vec<FinishedGame>, stats: SelfPlayStats) -> Self {
        finished.sort_by_key(|game| game.number);
        let mut games = Self { shard: Shard::new(iteration, features), ends: Vec::new(), stats };
        for game in finished {
            games.shard.append(&game.positions);
            games.ends.push((game.outcome, game.plies));
        }
        games.stats.positions = games.shard.len() as u64; // also those that were played elsewhere
        games
    }
}

/// Starts `threads` sessions of a task.
///
/// # Errors
/// The weights do not match the network.
pub(crate) fn task_sessions<G: Notation>(
    game: &G,
    task: &Task,
    threads: usize,
) -> Result<Vec<Box<dyn Session>>, NetworkError> {
    let rules = Arc::new(GameContext::new(game, &task.settings));
    let cached = task.settings.self_play.cached_positions;
    let session = |backend| Box::new(GamesInSeats::new(&rules, backend, cached)) as Box<dyn Session>;
    Ok(network_backends(game, task, threads)?.into_iter().map(session).collect())
}

/// A session for each of `self_play.threads`, with a function on tensors, or else equal priors and value 0.
pub(crate) fn sessions<G: Notation>(
    game: &G,
    settings: &GameSettings,
    function: Option<&TensorFunction>,
) -> Vec<Box<dyn Session>> {
    let rules = Arc::new(GameContext::new(game, settings));
    let session = |_| {
        let backend: Box<dyn Backend<G> + Send> = match function {
            Some(function) => Box::new(Tensors::new(game.spec(), Arc::clone(function))),
            None => Box::new(Uniform),
        };
        Box::new(GamesInSeats::new(&rules, backend, settings.self_play.cached_positions)) as Box<dyn Session>
    };
    (0..settings.self_play.workers()).map(session).collect()
}

/// Restores the games of a task from their transcripts.
pub(crate) fn transcript_decoder<G: Notation>(game: &G, task: &Task) -> TranscriptDecoder {
    let (rules, spec) = (GameContext::new(game, &task.settings), game.spec());
    Box::new(move |number, transcript| transcript::restore(&rules, &spec, number, transcript))
}

/// The network of a task on the processor, for each of some threads.
fn network_backends<G: Notation>(game: &G, task: &Task, threads: usize) -> Result<Vec<NetworkBackend>, NetworkError> {
    let (spec, batch) = (game.spec(), task.settings.self_play.concurrent_games);
    if !task.settings.self_play.precision.is_quantised() {
        let backend = |_| NetworkBackend::new(spec.clone(), &task.network, &task.weights, batch);
        return (0..threads).map(backend).collect();
    }
    let random;
    let samples = if task.samples.is_empty() {
        random = random_observations(game);
        &random
    } else {
        &task.samples
    };
    let network = Arc::new(QuantisedNetwork::new(&task.weights, &task.network, &shape(&spec), samples)?);
    Ok((0..threads).map(|_| NetworkBackend::quantised(spec.clone(), &network, batch)).collect())
}

/// Sum of the times for which workers waited, that ran for these times from a common start, until the last had finished.
fn idle(times: &[Duration]) -> Duration {
    let last = times.iter().max().copied().unwrap_or_default();
    times.iter().map(|&time| last - time).sum()
}

#[cfg(test)]
mod recording_tests;

#[cfg(test)]
mod quantisation_tests;

#[cfg(test)]
mod gpu_tests;

#[cfg(test)]
mod queue_tests;

#[cfg(test)]
mod transcript_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_wait_for_the_last() {
        assert_eq!(idle(&[5, 9, 7].map(Duration::from_secs)), Duration::from_secs(6));
        assert_eq!(idle(&[]), Duration::ZERO);
    }
}

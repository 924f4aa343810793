//! Self-play: every worker steps many games at once and evaluates their leaves in one batch.
//!
//! A worker that has finished a game takes the next one that no worker has begun. Every game has a random stream of its
//! own, and an evaluation does not depend on the rest of its batch, so that the games do not depend on the scheduling of
//! the threads. Finished games are collected in the order of their numbers.

mod task;
mod stats;
mod worker;
mod on_gpu;
mod session;
mod transcript;

pub use session::Session;
pub(crate) use session::sessions;
pub use stats::{Progress, SelfPlayStats, outcome_shares};
pub(crate) use task::random_opening;
pub use task::{GameSettings, MOST_PLIES, Task};
pub use transcript::Restore;
pub use worker::FinishedGame;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use turnstone_agents::{NetworkEvaluator, random_observations, shape};
use turnstone_env::{Game, Outcome};
use turnstone_models::{ComputeDevice, NetworkError, QuantisedNetwork};

use self::task::GameRules;
use self::worker::{Part, Worker};
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

/// Plays the games of one iteration. Returns `None` if `stop` was set before they were finished.
///
/// # Errors
/// The weights do not match the network.
pub(crate) fn play<G: Game>(
    game: &G,
    task: &Task,
    progress: &Progress,
    stop: &AtomicBool,
) -> Result<Option<SelfPlayGames>, NetworkError> {
    let rules = Arc::new(GameRules::new(game, &task.settings));
    let mut parts = match task.settings.self_play.device {
        ComputeDevice::Cpu => play_on_cpu(&rules, task, progress, stop)?,
        ComputeDevice::Gpu(number) => on_gpu::play(&rules, task, number, progress, stop)?,
    };
    if parts.iter().any(Option::is_none) {
        return Ok(None);
    }
    let mut stats = SelfPlayStats::default();
    parts.iter().flatten().for_each(|part| stats.add(&part.stats));
    stats.idle = idle(&parts.iter().flatten().map(|part| part.stats.time).collect::<Vec<_>>());
    let finished = parts.iter_mut().flatten().flat_map(|part| part.games.drain(..)).collect();
    Ok(Some(SelfPlayGames::new(task.settings.iteration, game.spec().features(), finished, stats)))
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
        games
    }
}

/// Starts `threads` sessions of a task.
///
/// # Errors
/// The weights do not match the network.
pub(crate) fn task_sessions<G: Game>(
    game: &G,
    task: &Task,
    threads: usize,
) -> Result<Vec<Box<dyn Session>>, NetworkError> {
    let rules = Arc::new(GameRules::new(game, &task.settings));
    let evaluators = evaluators(game, task, threads)?.into_iter();
    Ok(evaluators.map(|evaluator| session::session(&rules, evaluator)).collect())
}

/// What restores the games of a task from their transcripts.
pub(crate) fn restorer<G: Game>(game: &G, task: &Task) -> Restore {
    let (rules, spec) = (GameRules::new(game, &task.settings), game.spec());
    Box::new(move |number, transcript| transcript::restore(&rules, &spec, number, transcript))
}

/// Plays the games of a task with a network per worker. The parts of a stopped task are `None`.
fn play_on_cpu<G: Game>(
    rules: &Arc<GameRules<G>>,
    task: &Task,
    progress: &Progress,
    stop: &AtomicBool,
) -> Result<Vec<Option<Part>>, NetworkError> {
    let (workers, most) = (task.settings.self_play.workers(), task.settings.self_play.games_per_iteration);
    // At first every worker gets an equal share, also if the games are too few for all seats.
    let seats = task.settings.self_play.concurrent_games.min(most.div_ceil(workers));
    let next = AtomicUsize::new(0);
    let mut evaluators = evaluators(&rules.game, task, workers)?;
    Ok(thread::scope(|scope| {
        let threads: Vec<_> = evaluators
            .iter_mut()
            .map(|evaluator| {
                let (rules, next) = (Arc::clone(rules), &next);
                let numbers =
                    std::iter::from_fn(move || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < most));
                scope.spawn(move || Worker::new(rules, numbers, seats).run(evaluator, progress, stop))
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    }))
}

/// Creates an evaluator for each worker.
fn evaluators<G: Game>(game: &G, task: &Task, workers: usize) -> Result<Vec<NetworkEvaluator>, NetworkError> {
    let (spec, batch) = (game.spec(), task.settings.self_play.concurrent_games);
    if !task.settings.self_play.precision.is_quantised() {
        let evaluator = |_| NetworkEvaluator::new(spec.clone(), &task.network, &task.weights, batch);
        return (0..workers).map(evaluator).collect();
    }
    let random;
    let samples = if task.samples.is_empty() {
        random = random_observations(game);
        &random
    } else {
        &task.samples
    };
    let network = Arc::new(QuantisedNetwork::new(&task.weights, &task.network, &shape(&spec), samples)?);
    Ok((0..workers).map(|_| NetworkEvaluator::quantised(spec.clone(), &network, batch)).collect())
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

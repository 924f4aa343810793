//! Self-play with the network on a GPU.
//!
//! Every worker plays its games in two halves: while one half's leaves are evaluated it searches the other. One thread hands
//! what has arrived from all workers to the GPU as one batch, and reads a batch's outputs only when the next one is under
//! way. The GPU is behind a trait of two methods, so that this is tested without one.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

use turnstone_agents::{observe, shape, write_evaluations};
use turnstone_env::{Game, Spec};
use turnstone_models::{DeviceError, GpuBatch, GpuInference, GpuPredictions, NetworkError};

use super::stats::{Progress, SelfPlayStats};
use super::task::{GameRules, Task};
use super::worker::{Part, Worker};

/// Batches under way before the outputs of the first are read.
const UNDER_WAY: usize = 2;

/// A network that evaluates batches, several of which may be under way.
trait Batches: Sync {
    /// A batch under way.
    type Batch;

    /// Begins to evaluate observations `[rows, features]`.
    fn begin(&self, rows: usize, observations: Vec<f32>) -> Self::Batch;

    /// Waits for the outputs of a batch.
    ///
    /// # Errors
    /// The GPU failed.
    fn finish(&self, batch: Self::Batch) -> Result<GpuPredictions, DeviceError>;
}

impl Batches for GpuInference {
    type Batch = GpuBatch;

    fn begin(&self, rows: usize, observations: Vec<f32>) -> GpuBatch {
        self.begin(rows, observations)
    }

    fn finish(&self, batch: GpuBatch) -> Result<GpuPredictions, DeviceError> {
        self.finish(batch)
    }
}

/// Leaves to evaluate, and where to send the outputs.
struct Request {
    rows: usize,
    /// `[rows, features]`.
    observations: Vec<f32>,
    reply: Sender<Reply>,
}

/// The outputs of a batch, of which these rows are for the receiver.
struct Reply {
    outputs: Arc<GpuPredictions>,
    rows: Range<usize>,
}

/// Plays the games of a task on a GPU. The parts of a stopped task are `None`.
pub(super) fn play<G: Game>(
    rules: &Arc<GameRules<G>>,
    task: &Task,
    number: usize,
    progress: &Progress,
    stop: &AtomicBool,
) -> Result<Vec<Option<Part>>, NetworkError> {
    let self_play = &task.settings.self_play;
    let (with, most) = ((number, self_play.precision), self_play.gpu_batch());
    let network = GpuInference::new(&task.weights, &task.network, &shape(&rules.game.spec()), with, most)?;
    Ok(play_with(&network, most, rules, progress, stop)?)
}

/// Plays all games with batches of up to `largest` positions.
fn play_with<G: Game>(
    network: &impl Batches,
    largest: usize,
    rules: &Arc<GameRules<G>>,
    progress: &Progress,
    stop: &AtomicBool,
) -> Result<Vec<Option<Part>>, DeviceError> {
    let (spec, config) = (rules.game.spec(), &rules.settings.self_play);
    let (workers, most, seats) = (config.workers(), config.games_per_iteration, config.gpu_seats());
    // A worker's cache is shared out between its halves.
    let cached = config.cached_positions.div_ceil(2);
    let table = Table { game: &rules.game, spec: &spec, progress };
    let next = AtomicUsize::new(0);
    let (sender, requests) = channel();
    let play = |sender: Sender<Request>| {
        let numbers = || std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < most));
        let half = || Half::new(Worker::with_cache(Arc::clone(rules), numbers(), seats, cached));
        play_halves(table, [half(), half()], &sender, stop)
    };
    thread::scope(|scope| {
        let server = scope.spawn(|| serve(network, largest, requests));
        let (play, senders) = (&play, vec![sender; workers]);
        let threads: Vec<_> = senders.into_iter().map(|sender| scope.spawn(move || play(sender))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let parts: Vec<Option<Part>> = threads.into_iter().map(join).collect();
        // The server ends with the last sender.
        server.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(parts)
    })
}

/// Evaluates requests until all who could send one are gone, in batches of up to `largest` positions; none of the requests
/// has more.
///
/// The receiver ends with this function: workers that wait for an answer then see that none will come.
#[expect(clippy::needless_pass_by_value, reason = "it is dropped here also when the GPU fails")]
fn serve<N: Batches>(network: &N, largest: usize, requests: Receiver<Request>) -> Result<(), DeviceError> {
    let mut under_way: VecDeque<(N::Batch, Vec<Request>)> = VecDeque::new();
    let mut waiting: Option<Request> = None;
    loop {
        let mut group: Vec<Request> = Vec::new();
        let mut rows = 0;
        loop {
            let next = match waiting.take() {
                Some(request) => Some(request),
                None if group.is_empty() && under_way.is_empty() => requests.recv().ok(),
                None => requests.try_recv().ok(),
            };
            let Some(next) = next else { break };
            if !group.is_empty() && rows + next.rows > largest {
                waiting = Some(next);
                break;
            }
            rows += next.rows;
            group.push(next);
        }
        let idle = group.is_empty();
        if idle && under_way.is_empty() {
            return Ok(());
        }
        if !idle {
            let observations = group.iter().flat_map(|request| &request.observations).copied().collect();
            under_way.push_back((network.begin(rows, observations), group));
        }
        if (idle || under_way.len() >= UNDER_WAY)
            && let Some((batch, group)) = under_way.pop_front()
        {
            answer(network.finish(batch)?, group);
        }
    }
}

/// Sends each request its rows of the outputs.
fn answer(outputs: GpuPredictions, group: Vec<Request>) {
    let outputs = Arc::new(outputs);
    let mut first = 0;
    for request in group {
        let rows = first..first + request.rows;
        first = rows.end;
        // A worker that was stopped no longer listens.
        let _ = request.reply.send(Reply { outputs: Arc::clone(&outputs), rows });
    }
}

/// Half of a worker's games.
struct Half<G: Game, N> {
    worker: Worker<G, N>,
    /// Where the outputs for its leaves will arrive, while they are being evaluated.
    reply: Option<Receiver<Reply>>,
}

/// What all halves need.
struct Table<'a, G> {
    game: &'a G,
    spec: &'a Spec,
    progress: &'a Progress,
}

impl<G> Clone for Table<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> Copy for Table<'_, G> {}

/// Plays all games of a worker. Returns `None` if `stop` was set before they were finished, or if the GPU failed.
fn play_halves<G: Game, N: Iterator<Item = usize>>(
    table: Table<'_, G>,
    mut halves: [Half<G, N>; 2],
    sender: &Sender<Request>,
    stop: &AtomicBool,
) -> Option<Part> {
    let start = Instant::now();
    for half in &mut halves {
        half.hand_over(table, sender)?;
    }
    while halves.iter().any(|half| half.reply.is_some()) {
        for half in &mut halves {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            half.take(table)?;
            half.hand_over(table, sender)?;
        }
    }
    let mut part = Part { games: Vec::new(), stats: SelfPlayStats::default() };
    for half in halves {
        part.stats.add(&half.worker.stats());
        part.games.extend(half.worker.finished);
    }
    part.stats.time = start.elapsed();
    Some(part)
}

impl<G: Game, N: Iterator<Item = usize>> Half<G, N> {
    fn new(worker: Worker<G, N>) -> Self {
        Self { worker, reply: None }
    }

    /// Advances every game to its next leaf and hands the leaves over; none are left when all games are finished. Returns
    /// `None` if the GPU failed.
    fn hand_over(&mut self, table: Table<'_, G>, sender: &Sender<Request>) -> Option<()> {
        let Some(leaves) = self.worker.leaves(table.progress) else { return Some(()) };
        let mut observations = Vec::new();
        observe(table.game, leaves, table.spec, &mut observations);
        let (reply, replies) = channel();
        self.reply = Some(replies);
        sender.send(Request { rows: leaves.len(), observations, reply }).ok()
    }

    /// Waits for the outputs, if leaves were handed over, and gives them to the searches. Returns `None` if the GPU failed.
    fn take(&mut self, table: Table<'_, G>) -> Option<()> {
        let Some(replies) = self.reply.take() else { return Some(()) };
        let (game, spec) = (table.game, table.spec);
        let Ok(_) = self.worker.step(table.progress, |batch| {
            let Ok(Reply { outputs, rows }) = replies.recv() else { return Err(Gone) };
            let policy = &outputs.policy[rows.start * spec.actions..rows.end * spec.actions];
            let value = &outputs.value[3 * rows.start..3 * rows.end];
            write_evaluations(game, spec, batch, 0..rows.len(), [policy, value]);
            Ok(())
        }) else {
            return None;
        };
        Some(())
    }
}

/// The GPU failed; its thread says how.
struct Gone;

#[cfg(test)]
mod tests;

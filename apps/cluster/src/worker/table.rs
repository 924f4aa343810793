//! The jobs that a worker has, all of one work, and the items of them that its threads are to play.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::message::Acker;

use super::play::Loaded;
use crate::messages::{Job, Results};

/// The first item of a job, and the number of its items.
pub(super) type Key = (usize, usize);

/// A job that the server has not been told to be done.
pub(super) struct Held {
    pub(super) acker: Arc<Acker>,
    pub(super) run: String,
    first: usize,
    outcomes: Vec<Option<Vec<u8>>>,
    delivered: i64,
    ack_wait: Duration,
    /// When the server was last told that it is being played.
    spoken: Instant,
}

impl Held {
    pub(super) fn new(acker: Acker, run: &str, job: &Job, delivered: i64, ack_wait: Duration) -> Self {
        let (acker, run, outcomes) = (Arc::new(acker), run.to_owned(), vec![None; job.count]);
        Self { acker, run, first: job.first, outcomes, delivered, ack_wait, spoken: Instant::now() }
    }

    fn is_complete(&self) -> bool {
        self.outcomes.iter().all(Option::is_some)
    }

    /// Its results, without what concerns the worker.
    pub(super) fn results(&self, work: &str) -> Results {
        let outcomes = self.outcomes.iter().enumerate();
        let items = outcomes.filter_map(|(i, outcome)| Some((self.first + i, outcome.clone()?))).collect();
        Results { work: work.to_owned(), first: self.first, delivered: self.delivered, items, ..Results::default() }
    }
}

#[derive(Default)]
struct State {
    work: Option<Arc<Loaded>>,
    held: BTreeMap<Key, Held>,
    /// Items that no thread has begun, and the number of those that are being played.
    waiting: VecDeque<usize>,
    playing: usize,
    is_closed: bool,
}

impl State {
    fn is_of(&self, work: &Arc<Loaded>) -> bool {
        self.work.as_ref().is_some_and(|own| Arc::ptr_eq(own, work))
    }

    /// Drops all jobs; the threads leave what they play.
    fn clear(&mut self) -> Vec<Held> {
        self.work.take().into_iter().for_each(|work| work.retire());
        (self.waiting, self.playing) = (VecDeque::new(), 0);
        std::mem::take(&mut self.held).into_values().collect()
    }
}

/// The jobs of a worker.
#[derive(Default)]
pub(super) struct Table {
    state: Mutex<State>,
    changed: Condvar,
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The work that is being played, and whether it has jobs left.
    pub(super) fn work(&self) -> (Option<Arc<Loaded>>, bool) {
        let state = self.lock();
        (state.work.clone(), !state.held.is_empty())
    }

    /// Replaces the work. Returns what belongs to the jobs of the one before.
    pub(super) fn replace(&self, work: &Arc<Loaded>) -> Vec<Held> {
        let mut state = self.lock();
        let before = state.clear();
        state.work = Some(Arc::clone(work));
        before
    }

    /// Takes a job that was delivered again while it is played. Returns what belongs to it if it is not.
    pub(super) fn take_again(&self, job: &Job, acker: Acker) -> Option<Acker> {
        let mut state = self.lock();
        let is_of = state.work.as_ref().is_some_and(|work| work.sum == job.work);
        match state.held.get_mut(&(job.first, job.count)).filter(|_| is_of) {
            Some(held) => {
                held.acker = Arc::new(acker);
                None
            }
            None => Some(acker),
        }
    }

    /// Adds a job of the work.
    pub(super) fn add(&self, held: Held) {
        let mut state = self.lock();
        let (first, count) = (held.first, held.outcomes.len());
        state.waiting.extend(first..first + count);
        state.held.insert((first, count), held);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for items to begin; `None` once the table is closed.
    pub(super) fn wait(&self) -> Option<Arc<Loaded>> {
        let mut state = self.lock();
        loop {
            match &state.work {
                _ if state.is_closed => return None,
                Some(work) if !state.waiting.is_empty() => return Some(Arc::clone(work)),
                _ => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Takes the next items of a work, up to `most`.
    pub(super) fn next(&self, work: &Arc<Loaded>, most: usize) -> Vec<usize> {
        let mut state = self.lock();
        if !state.is_of(work) {
            return Vec::new();
        }
        let count = most.min(state.waiting.len());
        state.playing += count;
        state.waiting.drain(..count).collect()
    }

    /// Number of items that each of some threads should play at a time.
    pub(super) fn share(&self, threads: usize) -> usize {
        let state = self.lock();
        (state.waiting.len() + state.playing).div_ceil(threads).max(1)
    }

    /// Takes an outcome. Returns the jobs that it completes.
    pub(super) fn put(&self, work: &Arc<Loaded>, number: usize, outcome: &[u8]) -> Vec<Key> {
        let mut state = self.lock();
        if !state.is_of(work) {
            return Vec::new();
        }
        state.playing = state.playing.saturating_sub(1);
        let mut complete = Vec::new();
        for (key, held) in &mut state.held {
            let place = number.checked_sub(held.first).and_then(|at| held.outcomes.get_mut(at));
            if let Some(place) = place.filter(|place| place.is_none()) {
                *place = Some(outcome.to_vec());
                complete.extend(held.is_complete().then_some(*key));
            }
        }
        complete
    }

    /// The work and a complete job of it, for sending; `None` if it is no longer needed.
    pub(super) fn complete(&self, key: Key) -> Option<(String, Results, Arc<Acker>)> {
        let state = self.lock();
        let (held, work) = (state.held.get(&key)?, state.work.as_ref()?);
        Some((held.run.clone(), held.results(&work.sum), Arc::clone(&held.acker)))
    }

    /// Forgets a job that is sent.
    pub(super) fn remove(&self, key: Key) {
        self.lock().held.remove(&key);
    }

    /// Number of complete jobs that are not sent.
    pub(super) fn unsent(&self) -> usize {
        self.lock().held.values().filter(|held| held.is_complete()).count()
    }

    /// Whether `threads` threads could begin more items than are here.
    pub(super) fn has_room(&self, threads: usize) -> bool {
        let state = self.lock();
        state.work.as_ref().is_none_or(|work| state.waiting.len() + state.playing < threads * work.seats())
    }

    /// The jobs of which the server should hear that they are being played.
    pub(super) fn due(&self) -> Vec<Arc<Acker>> {
        let mut state = self.lock();
        let due = state.held.values_mut().filter(|held| held.spoken.elapsed() > held.ack_wait / 3);
        due.map(|held| {
            held.spoken = Instant::now();
            Arc::clone(&held.acker)
        })
        .collect()
    }

    /// Drops a work that cannot be played. Returns what belongs to its jobs.
    pub(super) fn abandon(&self, work: &Arc<Loaded>) -> Vec<(String, Arc<Acker>, Results)> {
        let mut state = self.lock();
        if !state.is_of(work) {
            return Vec::new();
        }
        let empty = |held: Held| {
            let results = Results { items: Vec::new(), ..held.results(&work.sum) };
            (held.run, held.acker, results)
        };
        state.clear().into_iter().map(empty).collect()
    }

    /// Drops the work of a run.
    pub(super) fn drop_run(&self, run: &str) {
        let mut state = self.lock();
        if state.work.as_ref().is_some_and(|work| work.run == run) {
            state.clear();
        }
    }

    /// Drops all jobs. Returns them.
    pub(super) fn clear(&self) -> Vec<Arc<Acker>> {
        self.lock().clear().into_iter().map(|held| held.acker).collect()
    }

    /// Ends all waits.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}

//! The items that the threads of a worker are to play, job by job, handed out one at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::loaded::Loaded;

/// The items of one job.
struct JobQueue {
    job: Arc<Loaded>,
    /// Items that no thread has begun.
    unstarted: VecDeque<usize>,
    in_progress: usize,
    /// Number of items that a thread should play at a time, so that the job spreads over all workers.
    seats: usize,
}

#[derive(Default)]
struct State {
    jobs: Vec<JobQueue>,
    closed: bool,
}

/// The items that wait for a thread or are being played.
#[derive(Default)]
pub(super) struct WorkQueue {
    state: Mutex<State>,
    changed: Condvar,
}

impl WorkQueue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds items of a job.
    pub(super) fn push(&self, job: &Arc<Loaded>, numbers: impl Iterator<Item = usize>, seats: usize) {
        let mut state = self.lock();
        let found = state.jobs.iter().position(|waiting| waiting.job.sum == job.sum);
        let at = found.unwrap_or_else(|| {
            state.jobs.push(JobQueue { job: Arc::clone(job), unstarted: VecDeque::new(), in_progress: 0, seats });
            state.jobs.len() - 1
        });
        let waiting = &mut state.jobs[at];
        waiting.unstarted.extend(numbers);
        if seats > 0 {
            waiting.seats = seats;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for a job with items to begin; `None` once the queue is closed.
    pub(super) fn wait(&self) -> Option<Arc<Loaded>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(waiting) = state.jobs.iter().find(|waiting| !waiting.unstarted.is_empty()) {
                return Some(Arc::clone(&waiting.job));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the next items of a job, up to `most`.
    pub(super) fn next(&self, job: &Loaded, most: usize) -> Vec<usize> {
        let mut state = self.lock();
        let Some(waiting) = state.jobs.iter_mut().find(|waiting| waiting.job.sum == job.sum) else { return Vec::new() };
        let count = most.min(waiting.unstarted.len());
        waiting.in_progress += count;
        waiting.unstarted.drain(..count).collect()
    }

    /// Number of items of a job that each of `threads` threads should play at a time: its share of those that are here, at
    /// most its share of all.
    pub(super) fn share(&self, job: &Loaded, threads: usize) -> usize {
        let state = self.lock();
        let waiting = state.jobs.iter().find(|waiting| waiting.job.sum == job.sum);
        waiting.map_or(1, |waiting| {
            (waiting.unstarted.len() + waiting.in_progress).div_ceil(threads).min(waiting.seats.max(1)).max(1)
        })
    }

    /// Notes that items of a job are done.
    pub(super) fn done(&self, job: &Loaded, count: usize) {
        let mut state = self.lock();
        if let Some(waiting) = state.jobs.iter_mut().find(|waiting| waiting.job.sum == job.sum) {
            waiting.in_progress = waiting.in_progress.saturating_sub(count);
        }
        state.jobs.retain(|waiting| waiting.in_progress > 0 || !waiting.unstarted.is_empty());
    }

    /// Number of items that are here.
    pub(super) fn held(&self) -> usize {
        self.lock().jobs.iter().map(|waiting| waiting.unstarted.len() + waiting.in_progress).sum()
    }

    /// Whether `threads` threads could begin more items than are here.
    pub(super) fn has_room(&self, threads: usize) -> bool {
        let state = self.lock();
        let Some(newest) = state.jobs.last() else { return true };
        let seats = newest.seats.clamp(1, newest.job.at_once());
        let here: usize = state.jobs.iter().map(|waiting| waiting.unstarted.len() + waiting.in_progress).sum();
        here < threads * seats
    }

    /// Drops a job whose outcomes are no longer needed.
    pub(super) fn retire(&self, sum: &[u8; 32]) {
        let mut state = self.lock();
        state.jobs.iter().filter(|waiting| waiting.job.sum == *sum).for_each(|waiting| waiting.job.retire());
        state.jobs.retain(|waiting| waiting.job.sum != *sum);
    }

    /// Ends all waits.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.jobs.clear();
        drop(state);
        self.changed.notify_all();
    }
}

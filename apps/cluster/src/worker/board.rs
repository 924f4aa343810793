//! What the threads of a worker have to play: items of jobs, handed out one by one.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::loaded::Loaded;

/// Items of a job.
struct Pile {
    job: Arc<Loaded>,
    /// Items that no thread has begun.
    unstarted: VecDeque<usize>,
    in_progress: usize,
    /// Number of items that a thread should have in progress, for the job to be spread over all workers.
    seats: usize,
}

#[derive(Default)]
struct State {
    piles: Vec<Pile>,
    closed: bool,
}

/// The items of all threads.
#[derive(Default)]
pub(super) struct Board {
    state: Mutex<State>,
    changed: Condvar,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds items of a job.
    pub(super) fn push(&self, job: &Arc<Loaded>, numbers: impl Iterator<Item = usize>, seats: usize) {
        let mut state = self.lock();
        let found = state.piles.iter().position(|pile| pile.job.sum == job.sum);
        let at = found.unwrap_or_else(|| {
            state.piles.push(Pile { job: Arc::clone(job), unstarted: VecDeque::new(), in_progress: 0, seats });
            state.piles.len() - 1
        });
        let pile = &mut state.piles[at];
        pile.unstarted.extend(numbers);
        if seats > 0 {
            pile.seats = seats;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for a job with items to begin; `None` once the board is closed.
    pub(super) fn wait(&self) -> Option<Arc<Loaded>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(pile) = state.piles.iter().find(|pile| !pile.unstarted.is_empty()) {
                return Some(Arc::clone(&pile.job));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the next items of a job, up to `most`.
    pub(super) fn next(&self, job: &Loaded, most: usize) -> Vec<usize> {
        let mut state = self.lock();
        let Some(pile) = state.piles.iter_mut().find(|pile| pile.job.sum == job.sum) else { return Vec::new() };
        let count = most.min(pile.unstarted.len());
        pile.in_progress += count;
        pile.unstarted.drain(..count).collect()
    }

    /// Number of items of a job that each of `threads` threads should have in progress: its share of those that are here,
    /// and no more than its share of all.
    pub(super) fn share(&self, job: &Loaded, threads: usize) -> usize {
        let state = self.lock();
        let pile = state.piles.iter().find(|pile| pile.job.sum == job.sum);
        pile.map_or(1, |pile| (pile.unstarted.len() + pile.in_progress).div_ceil(threads).min(pile.seats.max(1)).max(1))
    }

    /// Notes that items of a job are done.
    pub(super) fn done(&self, job: &Loaded, count: usize) {
        let mut state = self.lock();
        if let Some(pile) = state.piles.iter_mut().find(|pile| pile.job.sum == job.sum) {
            pile.in_progress = pile.in_progress.saturating_sub(count);
        }
        state.piles.retain(|pile| pile.in_progress > 0 || !pile.unstarted.is_empty());
    }

    /// Number of items that are here.
    pub(super) fn held(&self) -> usize {
        self.lock().piles.iter().map(|pile| pile.unstarted.len() + pile.in_progress).sum()
    }

    /// Whether `threads` threads could begin more items than are here.
    pub(super) fn has_room(&self, threads: usize) -> bool {
        let state = self.lock();
        let Some(newest) = state.piles.last() else { return true };
        let seats = newest.seats.clamp(1, newest.job.at_once());
        let here: usize = state.piles.iter().map(|pile| pile.unstarted.len() + pile.in_progress).sum();
        here < threads * seats
    }

    /// Drops a job whose outcomes are not needed any more.
    pub(super) fn retire(&self, sum: &[u8; 32]) {
        let mut state = self.lock();
        state.piles.iter().filter(|pile| pile.job.sum == *sum).for_each(|pile| pile.job.retire());
        state.piles.retain(|pile| pile.job.sum != *sum);
    }

    /// Ends all waits.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.piles.clear();
        drop(state);
        self.changed.notify_all();
    }
}

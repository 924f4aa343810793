//! Counters of a leader or a worker.

use std::sync::atomic::{AtomicU64, Ordering};

/// Name of each counter for TensorBoard.
const ALL: [&str; 12] = [
    "cluster/items",
    "cluster/positions",
    "cluster/bytes",
    "cluster/duplicates",
    "cluster/stale",
    "cluster/rejected",
    "cluster/republished",
    "cluster/missing_items",
    "cluster/workers",
    "cluster/threads",
    "cluster/queue_ranges",
    "cluster/played_ranges",
];

/// A counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(crate) enum Counter {
    /// Games and answers received (leader) or finished (worker).
    Items,
    /// Positions searched.
    Positions,
    /// Bytes of results received (leader) or sent (worker).
    Bytes,
    /// Items that had been received before.
    Duplicates,
    /// Results of jobs that are over.
    Stale,
    /// Messages with a fault.
    Rejected,
    /// Items handed out again.
    Republished,
    /// Items of the current job that are missing.
    Missing,
    /// Workers that play for the run.
    Workers,
    /// Threads of these workers.
    Threads,
    /// Ranges that wait on the server.
    Queue,
    /// Ranges that workers have and have not acknowledged.
    Played,
}

/// The counters of a process.
#[derive(Debug, Default)]
pub(crate) struct Counters([AtomicU64; ALL.len()]);

impl Counters {
    pub(crate) fn add(&self, counter: Counter, count: u64) {
        self.0[counter as usize].fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn set(&self, counter: Counter, value: u64) {
        self.0[counter as usize].store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize].load(Ordering::Relaxed)
    }

    /// Names for TensorBoard, and values.
    pub(crate) fn scalars(&self) -> Vec<(String, f64)> {
        ALL.iter().zip(&self.0).map(|(&name, value)| (name.to_owned(), value.load(Ordering::Relaxed) as f64)).collect()
    }
}

//! Limits of a search for an exact value.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use turnstone_search::Clock;

/// How long a search for an exact value may take. Limits of time make answers depend on the machine.
#[derive(Clone, Copy, Debug)]
pub struct SolveLimits {
    /// Maximum number of nodes.
    pub nodes: u64,
    /// Maximum time.
    pub time: Option<Duration>,
    /// Number of threads that search one position; they share one transposition table.
    pub threads: usize,
}

impl SolveLimits {
    /// No limits, on the calling thread.
    pub const NONE: Self = Self { nodes: u64::MAX, time: None, threads: 1 };

    /// A limit of nodes, on the calling thread.
    #[must_use]
    pub const fn nodes(nodes: u64) -> Self {
        Self { nodes, ..Self::NONE }
    }

    /// The same limits with this number of threads.
    #[must_use]
    pub const fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The same limits with a limit of time.
    #[must_use]
    pub const fn with_time(self, time: Option<Duration>) -> Self {
        Self { time, ..self }
    }
}

/// A search that ended without an answer, since a limit was reached or another thread has found it.
#[derive(Debug)]
pub struct Stopped;

/// What the threads of a search count together.
#[derive(Debug)]
pub struct Spent {
    most_nodes: u64,
    deadline: Option<Duration>,
    clock: Clock,
    nodes: AtomicU64,
    exceeded: AtomicBool,
}

/// Nodes between two looks at the limits.
const BETWEEN_CHECKS: u64 = 512;

impl Spent {
    /// Starts the clock of the limits.
    #[must_use]
    pub fn new(limits: &SolveLimits) -> Self {
        let clock = Clock::default();
        let deadline = limits.time.map(|time| clock.now().saturating_add(time));
        let (nodes, exceeded) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { most_nodes: limits.nodes, deadline, clock, nodes, exceeded }
    }

    /// Adds nodes; whether the search may go on.
    pub fn add(&self, nodes: u64) -> bool {
        let all = self.nodes.fetch_add(nodes, Ordering::Relaxed) + nodes;
        let late = || self.deadline.is_some_and(|deadline| self.clock.now() >= deadline);
        if all > self.most_nodes || late() {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        !self.exceeded()
    }

    /// Whether a limit was reached.
    #[must_use]
    pub fn exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    /// Number of nodes that were added.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }
}

/// Nodes of a search on one thread, after which others help.
const ALONE: u64 = 100_000;

/// The nodes of one thread, which are added to those of all threads now and then.
#[derive(Debug)]
pub struct Counter<'a> {
    spent: &'a Spent,
    done: &'a AtomicBool,
    /// Nodes that were not added to `spent` yet.
    nodes: u64,
    /// Nodes left on this thread.
    left: u64,
}

impl<'a> Counter<'a> {
    fn new(spent: &'a Spent, done: &'a AtomicBool, most: u64) -> Self {
        // The nodes before a limit are counted one by one, so that it is exact on one thread.
        Self { spent, done, nodes: 0, left: most.min(spent.most_nodes.saturating_sub(spent.nodes())) }
    }

    /// Counts a node.
    ///
    /// # Errors
    /// The search has to stop.
    #[inline]
    pub fn count(&mut self) -> Result<(), Stopped> {
        if self.left == 0 {
            return Err(Stopped);
        }
        self.left -= 1;
        self.nodes += 1;
        if self.nodes == BETWEEN_CHECKS {
            self.nodes = 0;
            if !self.spent.add(BETWEEN_CHECKS) || self.done.load(Ordering::Relaxed) {
                return Err(Stopped);
            }
        }
        Ok(())
    }
}

impl Drop for Counter<'_> {
    fn drop(&mut self) {
        self.spent.add(self.nodes);
    }
}

/// Runs a search on one thread. If it does not finish soon, several threads run the same search from the beginning and meet
/// its results, and each other's, in the transposition table; the first to finish answers.
///
/// # Errors
/// A limit was reached.
pub fn on_threads<T: Send>(
    threads: usize,
    spent: &Spent,
    search: &(dyn Fn(Counter<'_>) -> Result<T, Stopped> + Sync),
) -> Result<T, Stopped> {
    let done = AtomicBool::new(false);
    let alone = if threads > 1 { ALONE } else { u64::MAX };
    let result = search(Counter::new(spent, &done, alone));
    if threads <= 1 || result.is_ok() || spent.exceeded() {
        return result;
    }
    let found = Mutex::new(None);
    let work = || {
        if let Ok(answer) = search(Counter::new(spent, &done, u64::MAX)) {
            done.store(true, Ordering::Relaxed);
            *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner).ok_or(Stopped)
}

/// The positions that threads are searching, so that others take something else first (simplified ABDADA: T. Kerrigan,
/// 2017). Two positions may share a place, which costs an order of plies and no more.
#[derive(Debug)]
pub struct Busy(Vec<AtomicU64>);

const BUSY_PLACES: usize = 1 << 12;

impl Default for Busy {
    fn default() -> Self {
        Self((0..BUSY_PLACES).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Busy {
    /// Whether a thread is searching the position with this hash.
    #[must_use]
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        self.place(hash).load(Ordering::Relaxed) == hash | 1
    }

    /// Notes that a thread begins to search the position with this hash.
    #[inline]
    pub fn enter(&self, hash: u64) {
        self.place(hash).store(hash | 1, Ordering::Relaxed);
    }

    /// Notes that the thread is done with it.
    #[inline]
    pub fn leave(&self, hash: u64) {
        let _ = self.place(hash).compare_exchange(hash | 1, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    #[inline]
    fn place(&self, hash: u64) -> &AtomicU64 {
        &self.0[(hash >> 20) as usize % BUSY_PLACES]
    }
}

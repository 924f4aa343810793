//! Limits of a search for an exact value.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use turnstone_search::{Clock, Stop};

/// Limits of a search for an exact value. Limits of time make answers depend on the machine.
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

/// A search ended without an answer, because a limit was reached or another thread found the answer.
#[derive(Debug)]
pub struct Stopped;

/// The limits of a search and the nodes that its threads have visited together.
#[derive(Debug)]
pub struct SearchBudget {
    most_nodes: u64,
    deadline: Option<Duration>,
    clock: Clock,
    nodes: AtomicU64,
    exceeded: AtomicBool,
    stop: Stop,
}

/// Nodes between two checks of the limits.
const BETWEEN_CHECKS: u64 = 512;

impl SearchBudget {
    /// A new budget, which is exceeded once the flag is raised. Its time starts now.
    #[must_use]
    pub fn new(limits: &SolveLimits, stop: &Stop) -> Self {
        let clock = Clock::default();
        let deadline = limits.time.map(|time| clock.now().saturating_add(time));
        let (nodes, exceeded) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { most_nodes: limits.nodes, deadline, clock, nodes, exceeded, stop: stop.clone() }
    }

    /// Adds nodes. Returns whether the search may continue.
    pub fn add(&self, nodes: u64) -> bool {
        let all = self.nodes.fetch_add(nodes, Ordering::Relaxed) + nodes;
        let late = || self.deadline.is_some_and(|deadline| self.clock.now() >= deadline);
        if all > self.most_nodes || late() || self.stop.is_raised() {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        !self.exceeded()
    }

    /// Whether a limit was reached.
    #[must_use]
    pub fn exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    /// Number of nodes added so far.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }
}

/// Nodes that a search visits on one thread before others help.
const ALONE: u64 = 100_000;

/// The nodes of one thread, added to the budget of all threads every few hundred.
#[derive(Debug)]
pub struct NodeCounter<'a> {
    budget: &'a SearchBudget,
    done: &'a AtomicBool,
    /// Nodes not yet added to `budget`.
    nodes: u64,
    /// Nodes that this thread may still visit.
    left: u64,
}

impl<'a> NodeCounter<'a> {
    fn new(budget: &'a SearchBudget, done: &'a AtomicBool, most: u64) -> Self {
        // Counting the nodes that are left one by one makes the limit exact on one thread.
        Self { budget, done, nodes: 0, left: most.min(budget.most_nodes.saturating_sub(budget.nodes())) }
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
            if !self.budget.add(BETWEEN_CHECKS) || self.done.load(Ordering::Relaxed) {
                return Err(Stopped);
            }
        }
        Ok(())
    }
}

impl Drop for NodeCounter<'_> {
    fn drop(&mut self) {
        self.budget.add(self.nodes);
    }
}

/// Runs a search on one thread. If it does not finish soon, several threads start the same search from the beginning. They
/// share its results and each other's through the transposition table; the first to finish answers.
///
/// # Errors
/// A limit was reached.
pub fn on_threads<T: Send>(
    threads: usize,
    budget: &SearchBudget,
    search: &(dyn Fn(NodeCounter<'_>) -> Result<T, Stopped> + Sync),
) -> Result<T, Stopped> {
    let done = AtomicBool::new(false);
    let alone = if threads > 1 { ALONE } else { u64::MAX };
    let result = search(NodeCounter::new(budget, &done, alone));
    if threads <= 1 || result.is_ok() || budget.exceeded() {
        return result;
    }
    let found = Mutex::new(None);
    let work = || {
        if let Ok(answer) = search(NodeCounter::new(budget, &done, u64::MAX)) {
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

/// The positions that threads are searching, so that other threads search different ones first (simplified ABDADA: T.
/// Kerrigan, 2017). Two positions may share a slot, which changes the order of plies and nothing else.
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

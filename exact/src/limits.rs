//! Limits of a search for an exact value.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

/// The number of cores, 1 where it is unknown.
#[must_use]
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What the threads of a search count together.
#[derive(Debug)]
pub(crate) struct Spent {
    most_nodes: u64,
    deadline: Option<Duration>,
    clock: Clock,
    nodes: AtomicU64,
    exceeded: AtomicBool,
}

/// Nodes between two looks at the limits.
pub(crate) const BETWEEN_CHECKS: u64 = 512;

impl Spent {
    pub(crate) fn new(limits: &SolveLimits) -> Self {
        let clock = Clock::default();
        let deadline = limits.time.map(|time| clock.now().saturating_add(time));
        let (nodes, exceeded) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { most_nodes: limits.nodes, deadline, clock, nodes, exceeded }
    }

    /// Adds nodes; whether the search may go on.
    pub(crate) fn add(&self, nodes: u64) -> bool {
        let all = self.nodes.fetch_add(nodes, Ordering::Relaxed) + nodes;
        let late = || self.deadline.is_some_and(|deadline| self.clock.now() >= deadline);
        if all > self.most_nodes || late() {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        !self.exceeded()
    }

    /// Whether a limit was reached.
    pub(crate) fn exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    /// Number of nodes that were added.
    pub(crate) fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Nodes left before the limit.
    pub(crate) fn nodes_left(&self) -> u64 {
        self.most_nodes.saturating_sub(self.nodes())
    }
}

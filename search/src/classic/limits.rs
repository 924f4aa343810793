//! When a search has to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What bounds a search by iterative deepening; whatever is reached first ends it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Limits {
    /// Plies to look ahead at most.
    pub depth: Option<u32>,
    /// Positions to visit at most.
    pub nodes: Option<u64>,
    /// Time to take at most.
    pub time: Option<Duration>,
    /// Time after which no greater depth is begun.
    pub begin: Option<Duration>,
}

impl Limits {
    /// Looks so many plies ahead.
    #[must_use]
    pub fn depth(plies: u32) -> Self {
        Self { depth: Some(plies), ..Self::default() }
    }

    /// Visits at most so many positions.
    #[must_use]
    pub fn nodes(nodes: u64) -> Self {
        Self { nodes: Some(nodes), ..Self::default() }
    }

    /// Takes this time for the move.
    #[must_use]
    pub fn time(time: Duration) -> Self {
        Self { time: Some(time), ..Self::default() }
    }

    /// A move's share of the time that is left for a whole game (a contest's `remain_time`): no depth is begun after a
    /// fortieth of it, and none goes on beyond a tenth. So the time never runs out, and half of it is left after about
    /// twenty moves.
    #[must_use]
    pub fn share_of(remaining: Duration) -> Self {
        Self { time: Some(remaining / 10), begin: Some(remaining / 40), ..Self::default() }
    }
}

/// A flag by which another thread ends a search. Clones are the same flag; once raised it stays so.
#[derive(Clone, Default, Debug)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the searches that look at this flag.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Nodes between two looks at the clock and the flag: less than a millisecond.
pub(super) const NODES_PER_LOOK: u64 = 512;

/// Watches over the limits of one search.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    start: Instant,
    limits: Limits,
    stop: Stop,
    /// The number of nodes at which to look again.
    next_look: u64,
    stopped: bool,
}

impl Watch {
    pub(super) fn start(limits: &Limits, stop: &Stop) -> Self {
        let (start, stop) = (Instant::now(), stop.clone());
        let mut watch = Self { start, limits: *limits, stop, next_look: 0, stopped: false };
        watch.plan_look(0);
        watch
    }

    /// Whether the search must stop before it visits another position, `nodes` being the number visited so far.
    #[inline]
    pub(super) fn is_over(&mut self, nodes: u64) -> bool {
        if nodes >= self.next_look {
            self.look(nodes);
        }
        self.stopped
    }

    /// Whether the search has been stopped.
    #[inline]
    pub(super) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Whether a greater depth may be begun.
    pub(super) fn may_begin(&mut self, depth: u32, nodes: u64) -> bool {
        let deep = self.limits.depth.is_some_and(|most| depth > most);
        let late = self.limits.begin.is_some_and(|time| self.start.elapsed() >= time);
        !deep && !late && !self.is_over(nodes)
    }

    /// Whether time is what counts, so that it should not be spent where there is no choice.
    pub(super) fn is_timed(&self) -> bool {
        self.limits.time.is_some()
    }

    /// Looks at the limits and the flag now, for loops that visit no positions.
    #[cold]
    pub(super) fn look(&mut self, nodes: u64) {
        self.stopped |= self.limits.nodes.is_some_and(|most| nodes >= most);
        self.stopped |= self.limits.time.is_some_and(|time| self.start.elapsed() >= time);
        self.stopped |= self.stop.is_raised();
        self.plan_look(nodes);
    }

    fn plan_look(&mut self, nodes: u64) {
        self.next_look = self.limits.nodes.unwrap_or(u64::MAX).min(nodes + NODES_PER_LOOK);
    }
}

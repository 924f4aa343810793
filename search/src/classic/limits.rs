//! When a search has to stop.

use std::time::Duration;

use crate::clock::Clock;
use crate::stop::Stop;

/// Bounds of a search; the one reached first ends it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Limits {
    /// Maximum depth in plies.
    pub depth: Option<u32>,
    /// Maximum number of positions visited.
    pub nodes: Option<u64>,
    /// Maximum time.
    pub time: Option<Duration>,
    /// Time after which iterative deepening starts no further depth.
    pub begin: Option<Duration>,
}

impl Limits {
    /// A limit on the depth in plies alone.
    #[must_use]
    pub fn depth(plies: u32) -> Self {
        Self { depth: Some(plies), ..Self::default() }
    }

    /// A limit on the number of positions alone.
    #[must_use]
    pub fn nodes(nodes: u64) -> Self {
        Self { nodes: Some(nodes), ..Self::default() }
    }

    /// A limit on the time alone.
    #[must_use]
    pub fn time(time: Duration) -> Self {
        Self { time: Some(time), ..Self::default() }
    }

    /// A move's share of the time that is left for a whole game (a contest's `remain_time`): no depth is begun after a
    /// fortieth of it, and none continues beyond a tenth. So the time never runs out, and half of it is left after about
    /// twenty moves.
    #[must_use]
    pub fn share_of(remaining: Duration) -> Self {
        Self { time: Some(remaining / 10), begin: Some(remaining / 40), ..Self::default() }
    }
}

/// Controls of a running search: the flag that stops it and the clock that its time limits are measured with.
///
/// The default is a flag of its own that is not raised, and the default clock.
#[derive(Clone, Default, Debug)]
pub struct Control {
    /// Stops the search when raised.
    pub stop: Stop,
    /// Measures [`Limits::time`] and [`Limits::begin`].
    pub clock: Clock,
}

impl From<Stop> for Control {
    /// This flag, and the default clock.
    fn from(stop: Stop) -> Self {
        Self { stop, ..Self::default() }
    }
}

/// Nodes between two checks of the clock and the flag: less than a millisecond.
pub(super) const NODES_PER_LOOK: u64 = 512;

/// Checks the limits of one search.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// The clock's time when the search began.
    start: Duration,
    limits: Limits,
    control: Control,
    /// The number of nodes at the next check.
    next_look: u64,
    stopped: bool,
}

impl Watch {
    pub(super) fn start(limits: &Limits, control: &Control) -> Self {
        let (start, control) = (control.clock.now(), control.clone());
        let mut watch = Self { start, limits: *limits, control, next_look: 0, stopped: false };
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
        let late = self.limits.begin.is_some_and(|time| self.elapsed() >= time);
        !deep && !late && !self.is_over(nodes)
    }

    /// Whether the time is limited, so that none should be spent where there is only one action.
    pub(super) fn is_timed(&self) -> bool {
        self.limits.time.is_some()
    }

    /// Checks the limits and the flag now, for loops that visit no positions.
    #[cold]
    pub(super) fn look(&mut self, nodes: u64) {
        self.stopped |= self.limits.nodes.is_some_and(|most| nodes >= most);
        self.stopped |= self.limits.time.is_some_and(|time| self.elapsed() >= time);
        self.stopped |= self.control.stop.is_raised();
        self.plan_look(nodes);
    }

    fn elapsed(&self) -> Duration {
        self.control.clock.now().saturating_sub(self.start)
    }

    fn plan_look(&mut self, nodes: u64) {
        self.next_look = self.limits.nodes.unwrap_or(u64::MAX).min(nodes + NODES_PER_LOOK);
    }
}

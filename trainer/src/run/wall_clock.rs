//! The wall time of a run by stage.

use std::mem;
use std::time::{Duration, Instant};

use turnstone_base::machine::cores;
use turnstone_selfplay::SelfPlayStats;

use crate::metrics::{StageTimes, Timing};

/// Wall time of a run by stage, since the program started and since the last iteration.
pub(super) struct WallClock {
    start: Instant,
    /// End of the last iteration.
    last: Instant,
    /// Times since then.
    pub(super) stages: StageTimes,
    /// What self-play has done since then.
    pub(super) work: SelfPlayStats,
    /// Times until then.
    before: StageTimes,
}

impl WallClock {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        let (stages, before, work) = (StageTimes::default(), StageTimes::default(), SelfPlayStats::default());
        Self { start: now, last: now, stages, work, before }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Runs `work` and adds its time to that of writing files.
    pub(super) fn files<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.stages.files += start.elapsed();
        result
    }

    /// Ends an iteration and returns its times.
    pub(super) fn end_iteration(&mut self) -> Timing {
        let (now, stages, work) = (Instant::now(), mem::take(&mut self.stages), mem::take(&mut self.work));
        self.before.add(&stages);
        let whole = now - self.last;
        self.last = now;
        Timing::new(&stages, whole, work.positions, &work.cache)
    }

    /// Summary of all times since the start.
    pub(super) fn summary(&self) -> String {
        let mut all = self.before;
        all.add(&self.stages);
        all.summary(self.elapsed(), cores())
    }
}

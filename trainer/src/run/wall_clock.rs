//! The wall time of a run by stage.

use std::time::{Duration, Instant};

use turnstone_base::machine::cores;

use crate::metrics::StageTimes;

/// Wall time of a run by stage, since the program started and since the last iteration.
pub(super) struct WallClock {
    start: Instant,
    /// End of the last iteration.
    last: Instant,
    /// Times since then.
    pub(super) stages: StageTimes,
    /// Times until then.
    before: StageTimes,
}

impl WallClock {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self { start: now, last: now, stages: StageTimes::default(), before: StageTimes::default() }
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

    /// Ends an iteration and returns its times: by stage, and the whole.
    pub(super) fn end_iteration(&mut self) -> (StageTimes, Duration) {
        let (now, stages) = (Instant::now(), std::mem::take(&mut self.stages));
        self.before.add(&stages);
        let whole = now - self.last;
        self.last = now;
        (stages, whole)
    }

    /// Summary of all times since the start.
    pub(super) fn summary(&self) -> String {
        let mut all = self.before;
        all.add(&self.stages);
        all.summary(self.elapsed(), cores())
    }
}

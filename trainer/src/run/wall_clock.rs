//! The wall time of a run by stage.

use std::mem;
use std::time::{Duration, Instant};

use turnstone_selfplay::SelfPlayStats;

use crate::metrics::Timing;

/// Wall time of a run since training began, and by stage since the last iteration.
pub(super) struct WallClock {
    start: Instant,
    /// End of the last iteration.
    last: Instant,
    /// Seconds of the stages since then.
    pub(super) stages: Timing,
    /// Core time since then in which workers of self-play and of matches waited for the last one.
    pub(super) idle: Duration,
    /// What self-play has done since then.
    pub(super) work: SelfPlayStats,
}

impl WallClock {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        let (stages, idle, work) = (Timing::default(), Duration::ZERO, SelfPlayStats::default());
        Self { start: now, last: now, stages, idle, work }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Runs `work` and adds its time to that of writing files.
    pub(super) fn files<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.stages.file_seconds += start.elapsed().as_secs_f64();
        result
    }

    /// Adds self-play and the learning beside it, which began together.
    pub(super) fn played(&mut self, self_play: Duration, learn: Duration, stats: &SelfPlayStats) {
        self.stages.self_play_seconds += self_play.as_secs_f64();
        self.stages.learn_seconds += learn.as_secs_f64();
        self.stages.both_seconds += learn.min(self_play).as_secs_f64();
        self.idle += stats.idle;
        self.work.add(stats);
    }

    /// Ends an iteration and returns its times and rates.
    pub(super) fn end_iteration(&mut self) -> Timing {
        let (stages, work) = (mem::take(&mut self.stages), mem::take(&mut self.work));
        let now = Instant::now();
        let whole = now - mem::replace(&mut self.last, now);
        let (seconds, cache) = (stages.self_play_seconds, work.cache);
        let is_known = cache.batches > 0; // games that were played elsewhere come without
        Timing {
            seconds: whole.as_secs_f64(),
            idle_core_seconds: Some(mem::take(&mut self.idle).as_secs_f64()),
            positions_per_second: Some(work.positions as f64 / seconds),
            evaluations_per_second: is_known.then(|| cache.evaluations() as f64 / seconds),
            mean_batch: is_known.then(|| cache.mean_batch()),
            ..stages
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iteration_has_what_was_added_since_the_last() {
        let (seconds, mut clock) = (Duration::from_secs, WallClock::start());
        let stats = SelfPlayStats { positions: 120, idle: seconds(8), ..SelfPlayStats::default() };
        clock.played(seconds(60), seconds(20), &stats);
        clock.played(seconds(60), Duration::ZERO, &stats);
        let timing = clock.end_iteration();
        assert_eq!((timing.self_play_seconds, timing.learn_seconds, timing.both_seconds), (120.0, 20.0, 20.0));
        assert_eq!((timing.idle_core_seconds, timing.positions_per_second), (Some(16.0), Some(2.0)));
        let next = clock.end_iteration();
        assert_eq!((next.self_play_seconds, next.both_seconds, next.idle_core_seconds), (0.0, 0.0, Some(0.0)));
    }
}

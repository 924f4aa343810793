//! Counters of an iteration of self-play.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use turnstone_search::CacheStats;

/// Work and time of self-play, summed over all workers.
#[derive(Clone, Copy, Default, Debug)]
pub struct SelfPlayStats {
    /// Positions searched and recorded.
    pub positions: u64,
    /// Simulations of all searches.
    pub simulations: u64,
    /// Evaluations requested, and how many the cache answered.
    pub cache: CacheStats,
    /// Time spent in evaluation, including features and priors.
    pub inference: Duration,
    /// Running time of the workers.
    pub time: Duration,
    /// Time in which workers had no games left and waited for the last one.
    pub idle: Duration,
    /// Nodes and bytes of the search trees, summed over all positions at the end of their search.
    pub tree: [u64; 2],
}

impl SelfPlayStats {
    /// Adds the statistics of another worker or iteration.
    pub fn add(&mut self, other: &Self) {
        self.positions += other.positions;
        self.simulations += other.simulations;
        self.cache.add(&other.cache);
        self.inference += other.inference;
        self.time += other.time;
        self.idle += other.idle;
        self.tree = [self.tree[0] + other.tree[0], self.tree[1] + other.tree[1]];
    }
}

/// Counters that other threads can read while an iteration runs.
#[derive(Default, Debug)]
pub struct SelfPlayCounters {
    /// Number of finished games.
    pub games: AtomicU64,
    /// Number of positions searched.
    pub positions: AtomicU64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_adds_up() {
        let one = SelfPlayStats {
            positions: 1,
            simulations: 2,
            cache: CacheStats { requests: 3, hits: 4, merged: 5, batches: 6 },
            inference: Duration::from_secs(7),
            time: Duration::from_secs(8),
            idle: Duration::from_secs(11),
            tree: [9, 10],
        };
        let mut sum = SelfPlayStats {
            positions: 100,
            tree: [1000, 2000],
            time: Duration::from_secs(1),
            ..SelfPlayStats::default()
        };
        sum.add(&one);
        sum.add(&one);
        assert_eq!((sum.positions, sum.simulations, sum.tree), (102, 4, [1018, 2020]));
        assert_eq!(sum.cache, CacheStats { requests: 6, hits: 8, merged: 10, batches: 12 });
        let seconds = [sum.inference, sum.time, sum.idle].map(|time| time.as_secs());
        assert_eq!(seconds, [14, 17, 22]);
    }
}

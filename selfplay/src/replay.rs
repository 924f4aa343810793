//! Replay window: positions of self-play in one shard per iteration, in memory and on disk.

mod shard;

pub use shard::{GameId, Position, Shard, ShardError};

use rand::{Rng, RngExt};
use std::collections::VecDeque;
use std::sync::Arc;

/// The newest shards, just enough of them to hold the window's number of positions.
#[derive(Clone, Default, Debug)]
pub struct Window {
    shards: VecDeque<Arc<Shard>>,
    positions: usize,
}

impl Window {
    /// Adds the shard of the newest iteration and drops the oldest ones as long as at least `target` positions remain.
    pub fn push(&mut self, shard: Arc<Shard>, target: usize) {
        self.positions += shard.len();
        self.shards.push_back(shard);
        while self.shards.front().is_some_and(|oldest| self.positions - oldest.len() >= target) {
            let oldest = self.shards.pop_front().expect("there is a front");
            self.positions -= oldest.len();
        }
    }

    /// Number of positions in the window.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions
    }

    /// Whether the window has no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positions == 0
    }

    /// Iteration of the oldest shard in the window.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        self.shards.front().map(|shard| shard.iteration)
    }

    /// Observations of up to `count` positions, evenly spaced from the oldest to the newest, `[rows, features]`.
    #[must_use]
    pub fn spread(&self, count: usize) -> Vec<f32> {
        let count = count.min(self.positions);
        let mut observations = Vec::new();
        let (mut shards, mut before) = (self.shards.iter(), 0);
        let mut shard = shards.next();
        for index in (0..count).map(|i| i * self.positions / count) {
            while let Some(past) = shard.filter(|shard| index - before >= shard.len()) {
                before += past.len();
                shard = shards.next();
            }
            let shard = shard.expect("the shards hold all positions of the window");
            observations.extend_from_slice(shard.position(index - before).features);
        }
        observations
    }

    /// Draws a position uniformly at random: its shard and its place there.
    ///
    /// # Panics
    /// If the window is empty.
    pub fn sample(&self, rng: &mut impl Rng) -> (&Shard, usize) {
        let mut index = rng.random_range(0..self.positions);
        for shard in &self.shards {
            if index < shard.len() {
                return (shard, index);
            }
            index -= shard.len();
        }
        unreachable!("the shards hold all positions of the window")
    }
}

/// Size of the window, in positions, after `total` positions of self-play: starts at `first` and grows with a power of
/// the amount of data (KataGo; Wu, 2019, appendix C), up to `most`.
#[must_use]
pub fn window_size(total: u64, first: usize, most: usize) -> usize {
    const EXPONENT: f64 = 0.75;
    const SLOPE: f64 = 0.4;
    let ratio = (total as f64 / first as f64).max(1.0);
    let size = first as f64 * (1.0 + SLOPE * (ratio.powf(EXPONENT) - 1.0) / EXPONENT);
    (size as usize).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_grows_slower_than_the_data() {
        assert_eq!(window_size(0, 20_000, 1_000_000), 20_000);
        assert_eq!(window_size(20_000, 20_000, 1_000_000), 20_000);
        let at_a_million = window_size(1_000_000, 20_000, 10_000_000);
        assert!((200_000..300_000).contains(&at_a_million), "{at_a_million}");
        assert_eq!(window_size(1_000_000_000, 20_000, 300_000), 300_000);
        // 250,000 positions and 241 million, the size of KataGo's run, by the formula of the paper.
        assert_eq!(window_size(241_000_000, 250_000, usize::MAX), 23_183_953);
    }

    #[test]
    fn old_shards_are_dropped_when_the_window_stays_full() {
        let mut window = Window::default();
        for iteration in 1..=5 {
            window.push(Arc::new(shard::tests::example(iteration, 10)), 25);
        }
        assert_eq!((window.len(), window.oldest()), (30, Some(3)));
        let mut rng = turnstone_base::streams::stream(1, turnstone_base::streams::Purpose::Learn, [0, 0]);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            let (shard, index) = window.sample(&mut rng);
            seen.insert(shard.position(index).features[0] as u64);
        }
        assert_eq!(seen.len(), 30, "every position can be drawn");
        // Just enough of them: without the oldest of four, three are left that hold the 30 positions.
        window.push(Arc::new(shard::tests::example(6, 10)), 30);
        assert_eq!((window.len(), window.oldest()), (30, Some(4)));
    }

    #[test]
    fn positions_are_drawn_evenly_from_shards_of_any_size() {
        let mut window = Window::default();
        let sizes = [1, 12, 3, 4];
        for (iteration, positions) in sizes.into_iter().enumerate() {
            window.push(Arc::new(shard::tests::example(iteration as u64, positions)), usize::MAX);
        }
        let mut rng = turnstone_base::streams::stream(1, turnstone_base::streams::Purpose::Learn, [0, 0]);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..20_000 {
            let (shard, index) = window.sample(&mut rng);
            *counts.entry(shard.position(index).features[0] as usize).or_insert(0) += 1;
        }
        let tags = sizes.iter().enumerate().flat_map(|(iteration, &size)| (0..size).map(move |i| 1000 * iteration + i));
        assert!(tags.eq(counts.keys().copied()), "all positions: {counts:?}");
        assert!(counts.values().all(|count| (850..1150).contains(count)), "1,000 times each: {counts:?}");
    }

    #[test]
    fn a_spread_goes_from_the_oldest_to_the_newest() {
        let mut window = Window::default();
        assert!(window.spread(4).is_empty());
        for iteration in 1..=3 {
            window.push(Arc::new(shard::tests::example(iteration, 10)), 100);
        }
        let width = window.shards[0].position(0).features.len();
        let all: Vec<f32> =
            window.shards.iter().flat_map(|s| (0..10).flat_map(|i| s.position(i).features.to_vec())).collect();
        assert_eq!(window.spread(30), all);
        assert_eq!(window.spread(1000), all);
        let seven: Vec<f32> =
            [0, 4, 8, 12, 17, 21, 25].iter().flat_map(|&i| all[i * width..][..width].to_vec()).collect();
        assert_eq!(window.spread(7), seven);
    }
}

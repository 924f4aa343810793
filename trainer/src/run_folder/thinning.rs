//! Thinning of numbered checkpoints: the newest are all kept, older ones at increasing distances.

/// Returns the steps of the checkpoints to remove, newest first. The newest `keep` are all kept; 0 keeps everything.
///
/// Distances from the newest are in units of `every`, the steps between checkpoints. From a distance of `keep` to twice
/// that, the first of every 2 is kept; from there to twice that again, the first of every 4; and so on. The first of
/// every 4 is also the first of every 2, so a later thinning finds what it has to keep, and the first checkpoint is
/// never removed. Since the newest are removed first, a thinning after an interrupted one reaches the same result.
pub(super) fn unwanted(steps: &[u64], keep: u64, every: u64) -> Vec<u64> {
    let mut steps = steps.to_vec();
    steps.sort_unstable_by(|a, b| b.cmp(a));
    let Some(newest) = steps.first().map(|step| step / every).filter(|_| keep > 0) else { return Vec::new() };
    let wanted = |rank: usize, step: u64| {
        let number = step / every;
        let distance = newest - number;
        if (rank as u64) < keep || distance < keep {
            return true;
        }
        let stretch = 2 << (distance / keep).ilog2();
        // Later entries of the list are older.
        steps[rank + 1..].iter().all(|older| older / every / stretch != number / stretch)
    };
    steps.iter().enumerate().filter(|&(rank, &step)| !wanted(rank, step)).map(|(_, &step)| step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checkpoints that remain if each is followed by a thinning, interrupted after `most` files and then repeated.
    fn kept(steps: impl Iterator<Item = u64>, keep: u64, every: u64, most: usize) -> Vec<u64> {
        let mut kept = Vec::new();
        for step in steps {
            kept.push(step);
            for most in [most, usize::MAX] {
                let unwanted = unwanted(&kept, keep, every);
                kept.retain(|step| !unwanted.iter().take(most).any(|unwanted| unwanted == step));
            }
        }
        kept
    }

    #[test]
    fn spacing_grows_with_age() {
        let steps = kept((1..=40).map(|n| 100 * n), 4, 100, usize::MAX);
        let numbers: Vec<u64> = steps.iter().map(|step| step / 100).collect();
        assert_eq!(numbers, [1, 16, 24, 28, 32, 34, 36, 37, 38, 39, 40]);
        assert_eq!(kept((1..=40).map(|n| 100 * n), 0, 100, usize::MAX).len(), 40);
    }

    #[test]
    fn the_newest_and_the_first_stay_and_the_rest_is_few() {
        for keep in [1, 2, 3, 10] {
            // Iterations of 70 steps against checkpoints every 100, and of 350.
            for spacing in [100, 140, 350] {
                let steps = kept((1..=1000).map(|n| n * spacing), keep, 100, usize::MAX);
                let newest = (1001 - keep..=1000).map(|n| n * spacing);
                assert!(newest.eq(steps[steps.len() - keep as usize..].iter().copied()));
                assert_eq!(steps[0], spacing);
                assert!(steps.len() as u64 <= keep + 12 * keep.div_ceil(2) + 12, "{keep} {spacing}: {}", steps.len());
            }
        }
    }

    #[test]
    fn interrupted_thinnings_come_to_the_same_end() {
        for keep in [2, 3, 10] {
            for spacing in [100, 350] {
                let steps = || (1..=300).map(|n| spacing * n);
                let whole = kept(steps(), keep, 100, usize::MAX);
                assert_eq!(unwanted(&whole, keep, 100), [0; 0]);
                assert_eq!(kept(steps(), keep, 100, 0), whole);
                assert_eq!(kept(steps(), keep, 100, 1), whole);
            }
        }
    }
}

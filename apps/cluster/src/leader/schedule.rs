//! Cuts items into ranges: large ones first, smaller ones towards the end, so that all workers finish together.

use crate::messages::MOST_IN_RANGE;

/// How a job is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Threads of all workers.
    pub(super) threads: usize,
    /// Number of consecutive items that one range holds together.
    pub(super) group: usize,
    /// Maximum number of items of a range.
    pub(super) most: usize,
}

/// Number of ranges that make up a thread's share of the remaining items.
const RANGES_PER_SHARE: usize = 8;

/// Cuts the numbers, which increase, into ranges of consecutive ones: first number and length.
pub(super) fn ranges(numbers: &[usize], cut: Cut) -> Vec<(usize, usize)> {
    let most = cut.most.clamp(1, MOST_IN_RANGE);
    let mut ranges = Vec::new();
    let mut rest = numbers;
    while let [first, ..] = rest {
        let share = rest.len().div_ceil(RANGES_PER_SHARE * cut.threads.max(1)).min(most);
        // Up to the next end of a group.
        let end = (first + share).next_multiple_of(cut.group.max(1));
        let whole = rest.iter().enumerate().take_while(|(i, number)| **number == first + i && **number < end).count();
        ranges.push((*first, whole.min(MOST_IN_RANGE)));
        rest = &rest[whole.min(MOST_IN_RANGE)..];
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_the_numbers_and_shrink() {
        let cut = Cut { threads: 2, group: 1, most: 64 };
        let numbers: Vec<usize> = (0..256).collect();
        let cut_up = ranges(&numbers, cut);
        assert_eq!(cut_up.iter().flat_map(|&(first, count)| first..first + count).collect::<Vec<_>>(), numbers);
        assert!(cut_up.is_sorted_by(|a, b| a.1 >= b.1), "{cut_up:?}");
        assert_eq!((cut_up[0], cut_up[cut_up.len() - 1]), ((0, 16), (255, 1)));
        assert!(cut_up.len() < 70, "{}", cut_up.len());
        assert_eq!(ranges(&numbers, Cut { threads: 1, most: 4, ..cut })[0], (0, 4));
    }

    #[test]
    fn ranges_are_of_consecutive_numbers_and_whole_groups() {
        let cut = Cut { threads: 1, group: 1, most: 64 };
        let numbers = [0, 1, 2, 7, 8, 20];
        let cut_up = ranges(&numbers, cut);
        assert_eq!(cut_up.iter().flat_map(|&(first, count)| first..first + count).collect::<Vec<_>>(), numbers);
        let pairs = ranges(&(0..100).collect::<Vec<_>>(), Cut { threads: 3, group: 2, most: 24 });
        assert!(pairs.iter().all(|&(first, count)| first % 2 == 0 && count % 2 == 0), "{pairs:?}");
        assert_eq!(pairs.iter().map(|range| range.1).sum::<usize>(), 100);
        assert!(ranges(&[], cut).is_empty());
    }
}

//! Cuts items into jobs: large ones first, smaller ones towards the end, so that all workers finish together.

/// Number of jobs that make up the items that are left.
const JOBS: usize = 16;

/// Cuts the numbers, which increase, into jobs of consecutive ones: first number and length. A job holds at most `most` items,
/// and whole groups.
pub(super) fn jobs(numbers: &[usize], group: usize, most: usize) -> Vec<(usize, usize)> {
    let mut jobs = Vec::new();
    let mut rest = numbers;
    while let [first, ..] = rest {
        let share = rest.len().div_ceil(JOBS).min(most);
        let end = (first + share).next_multiple_of(group);
        let count = rest.iter().enumerate().take_while(|(i, number)| **number == first + i && **number < end).count();
        jobs.push((*first, count));
        rest = &rest[count..];
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_of_consecutive_numbers_and_whole_groups_and_shrink() {
        let all =
            |jobs: &[(usize, usize)]| jobs.iter().flat_map(|&(first, count)| first..first + count).collect::<Vec<_>>();
        let numbers: Vec<usize> = (0..1024).collect();
        let cut = jobs(&numbers, 1, 64);
        assert_eq!(all(&cut), numbers);
        assert!(cut.is_sorted_by(|a, b| a.1 >= b.1), "{cut:?}");
        assert_eq!((cut[0], cut[cut.len() - 1], jobs(&numbers, 1, 4)[0]), ((0, 64), (1023, 1), (0, 4)));
        let gaps = [0, 1, 2, 7, 8, 20];
        assert_eq!(all(&jobs(&gaps, 1, 64)), gaps);
        let pairs = jobs(&numbers, 2, 24);
        assert!(pairs.iter().all(|&(first, count)| first % 2 == 0 && count % 2 == 0), "{pairs:?}");
        assert_eq!(all(&pairs), numbers);
        assert!(jobs(&[], 1, 64).is_empty());
    }
}

//! Cuts items into jobs: large ones first, smaller ones towards the end, so that all workers finish together.

/// Number of jobs that make up the items that are left.
const JOBS: usize = 16;
/// Maximum number of items of a job: as many games as a thread plays side by side, so that messages cost nothing beside them.
const MOST: usize = 24;

/// Cuts the numbers, which increase, into jobs of consecutive ones: first number and length.
pub(super) fn jobs(numbers: &[usize]) -> Vec<(usize, usize)> {
    let mut jobs = Vec::new();
    let mut rest = numbers;
    while let [first, ..] = rest {
        let share = rest.len().div_ceil(JOBS).min(MOST);
        let count = rest.iter().zip(*first..).take(share).take_while(|(number, next)| *number == next).count();
        jobs.push((*first, count));
        rest = &rest[count..];
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_of_consecutive_numbers_and_shrink() {
        let all = |jobs: &[(usize, usize)]| jobs.iter().flat_map(|&(first, n)| first..first + n).collect::<Vec<_>>();
        let numbers: Vec<usize> = (0..1024).collect();
        let cut = jobs(&numbers);
        assert_eq!(all(&cut), numbers);
        assert!(cut.is_sorted_by(|a, b| a.1 >= b.1), "{cut:?}");
        assert_eq!((cut[0], cut[cut.len() - 1]), ((0, 24), (1023, 1)));
        let gaps = [0, 1, 2, 7, 8, 20];
        assert_eq!(all(&jobs(&gaps)), gaps);
        assert!(jobs(&[]).is_empty());
    }
}

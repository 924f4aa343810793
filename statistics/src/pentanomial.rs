//! Counts of game pairs by their points: score, variance, intervals and likelihood.

use std::array;
use std::iter::Sum;

use super::{elo_of, normal, normal_of_student, student95};

/// Counts of the pairs that yielded 0, 1/2, 1, 3/2 and 2 points.
///
/// Makes no assumption about the five probabilities: draws, decided openings and the advantage of a seat are all part
/// of the counts. The intervals, the likelihood of superiority and the sequential test are derived from
/// [`Self::deviance`], which measures how well a mean score explains the counts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Pentanomial {
    counts: [usize; 5],
}

/// Match result between two agents, from the first agent's point of view.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct MatchScore {
    /// Pairs by their points.
    pub pairs: Pentanomial,
    /// Share of the points, 0..=1.
    pub score: f64,
    /// 95 % interval of the expected score.
    pub score_interval: [f64; 2],
    /// Elo difference of the score; infinite if all points were won or lost (`null` in JSON).
    pub elo: f64,
    /// 95 % interval of the Elo difference.
    pub elo_interval: [f64; 2],
    /// Likelihood of superiority, 0..=1: confidence that the expected score is above one half.
    pub los: f64,
}

impl From<[usize; 5]> for Pentanomial {
    fn from(counts: [usize; 5]) -> Self {
        Self { counts }
    }
}

impl Sum for Pentanomial {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self { counts: array::from_fn(|i| sum.counts[i] + part.counts[i]) })
    }
}

impl Pentanomial {
    /// Counts a pair by the results of its two games, each 1 for a win, 0 for a draw and -1 for a loss.
    pub fn add(&mut self, results: [i8; 2]) {
        self.counts[(results[0] + results[1] + 2) as usize] += 1;
    }

    /// Number of pairs with 0, 1/2, 1, 3/2 and 2 points.
    #[must_use]
    pub fn counts(&self) -> [usize; 5] {
        self.counts
    }

    /// Number of pairs.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The same pairs from the opponent's point of view.
    #[must_use]
    pub fn swapped(mut self) -> Self {
        self.counts.reverse();
        self
    }

    /// Share of the points, 0..=1; one half without pairs.
    #[must_use]
    pub fn score(&self) -> f64 {
        if self.pairs() == 0 {
            0.5
        } else {
            self.terms().map(|(count, share)| count * share).sum::<f64>() / self.size()
        }
    }

    /// Variance of one pair's share of the points, `sum of p_i (s_i - s)^2` with the observed frequency `p_i` of pairs
    /// with score `s_i`, and their mean `s`; 0 without pairs.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.squares_around(self.score()) / self.size().max(1.0)
    }

    /// Sum of the squared distances of the pairs' scores from `mean`.
    pub(super) fn squares_around(&self, mean: f64) -> f64 {
        self.terms().map(|(count, share)| count * (share - mean).powi(2)).sum()
    }

    /// Twice the logarithm of the ratio between the greatest likelihood of the counts and their greatest likelihood
    /// with expected score `mean`, both over all distributions on the five scores (Owen, *Empirical Likelihood*, 2001,
    /// 2.9; the generalised likelihood ratio of Van den Bergh for fishtest). With the multiplier `x` of the constraint
    /// it is `2 max over x of sum of n_i ln(1 + x (s_i - mean))`, where no factor may be negative, including those of
    /// scores that were not observed, as these may have a positive probability too.
    #[must_use]
    pub fn deviance(&self, mean: f64) -> f64 {
        let score = self.score();
        if self.pairs() == 0 || mean == score {
            return 0.0;
        }
        if mean <= 0.0 || mean >= 1.0 {
            return f64::INFINITY;
        }
        let (pairs, mean) = if mean > score { (self.swapped(), 1.0 - mean) } else { (*self, mean) };
        let x = pairs.multiplier(mean);
        2.0 * pairs.seen().map(|(count, share)| count * (x * (share - mean)).ln_1p()).sum::<f64>()
    }

    /// The multiplier `x` of [`Self::deviance`] for a mean below the score, between 0 and `1 / mean`. Newton's method
    /// on the slope, which is decreasing, with bisection where a step would leave the bracket.
    fn multiplier(&self, mean: f64) -> f64 {
        let [mut low, mut high] = [0.0, 1.0 / mean];
        let slope = |x: f64| {
            self.seen().fold((0.0, 0.0), |(slope, curve), (count, share)| {
                let part = (share - mean) / (1.0 + x * (share - mean));
                (slope + count * part, curve - count * part * part)
            })
        };
        if self.counts[0] == 0 && slope(high).0 >= 0.0 {
            return high;
        }
        let mut x = 0.0;
        for _ in 0..100 {
            let (value, curve) = slope(x);
            *(if value > 0.0 { &mut low } else { &mut high }) = x;
            let newton = x - value / curve;
            let next = if low < newton && newton < high { newton } else { f64::midpoint(low, high) };
            if (next - x).abs() <= 1e-12 * high {
                break;
            }
            x = next;
        }
        x
    }

    /// 95 % interval of the expected score: the means whose deviance is at most the squared 95 % quantile of Student's
    /// t distribution. It lies within 0..=1 and is wide for few pairs: 0 to 1 for one pair, 0.77 to 1 for ten pairs won
    /// twice.
    #[must_use]
    pub fn score_interval(&self) -> [f64; 2] {
        [self.lower_end(), 1.0 - self.swapped().lower_end()]
    }

    fn lower_end(&self) -> f64 {
        let [mut low, mut high] = [0.0, self.score()];
        if self.pairs() < 2 {
            return low;
        }
        let greatest = student95(self.size() - 1.0).powi(2);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            *(if self.deviance(middle) > greatest { &mut low } else { &mut high }) = middle;
        }
        f64::midpoint(low, high)
    }

    /// Elo difference of the score; infinite if all points were won or lost.
    #[must_use]
    pub fn elo(&self) -> f64 {
        elo_of(self.score())
    }

    /// 95 % interval of the Elo difference; its ends may be infinite.
    #[must_use]
    pub fn elo_interval(&self) -> [f64; 2] {
        self.score_interval().map(elo_of)
    }

    /// Likelihood of superiority, 0..=1: confidence that the expected score is above one half. It is Student's
    /// probability of the signed root of the deviance at one half, so that it exceeds 97.5 % where the interval
    /// excludes one half.
    #[must_use]
    pub fn superiority(&self) -> f64 {
        let root = self.deviance(0.5).sqrt().copysign(self.score() - 0.5);
        normal(normal_of_student(root, (self.size() - 1.0).max(1.0)))
    }

    /// Computes the score, its intervals and the likelihood of superiority.
    #[must_use]
    pub fn estimate(self) -> MatchScore {
        MatchScore {
            pairs: self,
            score: self.score(),
            score_interval: self.score_interval(),
            elo: self.elo(),
            elo_interval: self.elo_interval(),
            los: self.superiority(),
        }
    }

    fn size(&self) -> f64 {
        self.pairs() as f64
    }

    /// Counts with their scores, 0..=1.
    fn terms(&self) -> impl Iterator<Item = (f64, f64)> {
        self.counts.iter().zip(0..5u8).map(|(&count, points)| (count as f64, f64::from(points) / 4.0))
    }

    /// The terms whose count is not 0.
    fn seen(&self) -> impl Iterator<Item = (f64, f64)> {
        self.terms().filter(|(count, _)| *count > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    /// Ten pairs: 1 without a point, 1 with 1/2, 3 with 1, 1 with 3/2, 4 won twice. By hand, in points of a pair: 0 +
    /// 1/2 + 3 + 3/2 + 8 = 13 of 20, mean 1.3; squares around it 1 * 1.69 + 1 * 0.64 + 3 * 0.09 + 1 * 0.04 + 4 * 0.49 =
    /// 4.6, variance 0.46. As shares of 2 points: 0.65, and 0.46 / 4 = 0.115.
    #[test]
    fn a_worked_example() {
        let pairs = Pentanomial::from([1, 1, 3, 1, 4]);
        assert_eq!(pairs.pairs(), 10);
        assert!(close(pairs.score(), 0.65) && close(pairs.variance(), 0.115), "{} {}", pairs.score(), pairs.variance());
        assert!(close(pairs.elo(), 400.0 * (13.0f64 / 7.0).log10()));
        assert!(close(pairs.swapped().score(), 0.35) && close(pairs.swapped().variance(), 0.115));
    }

    #[test]
    fn results_become_points() {
        let mut pairs = Pentanomial::default();
        for results in [[-1, -1], [1, 1], [1, -1], [0, 0], [0, 1], [-1, 0]] {
            pairs.add(results);
        }
        assert_eq!(pairs.counts(), [1, 1, 2, 1, 1]);
    }

    /// Pairs won twice or lost twice follow a binomial distribution, whose deviance is known: `2 (n_1 ln(p / s) + n_0
    /// ln((1 - p) / (1 - s)))` with observed share `p`.
    #[test]
    fn the_deviance_of_a_binomial_distribution() {
        let pairs = Pentanomial::from([12, 0, 0, 0, 28]);
        for mean in [0.05f64, 0.5, 0.699, 0.7, 0.71, 0.99] {
            let known = 2.0 * (28.0 * (0.7 / mean).ln() + 12.0 * (0.3 / (1.0 - mean)).ln());
            assert!(close(pairs.deviance(mean), known), "{mean}");
        }
        assert_eq!((pairs.deviance(0.0), pairs.deviance(1.0)), (f64::INFINITY, f64::INFINITY));
        for near in [pairs.score().next_up(), pairs.score().next_down()] {
            assert!(pairs.deviance(near).abs() < 1e-12, "{near}");
        }
    }

    /// All counts of one kind: the scores that were not observed get as little probability as the mean allows.
    #[test]
    fn the_deviance_of_a_sweep() {
        assert!(close(Pentanomial::from([0, 0, 0, 0, 10]).deviance(0.8), -20.0 * 0.8f64.ln()));
        assert!(close(Pentanomial::from([0, 0, 10, 0, 0]).deviance(0.4), -20.0 * 0.8f64.ln()));
        assert_eq!(Pentanomial::from([0, 0, 0, 0, 10]).deviance(1.0), 0.0);
    }

    /// The constrained maximum, against a search over all distributions on three scores.
    #[test]
    fn the_deviance_is_the_constrained_maximum() {
        let (counts, mean) = ([0.0, 3.0, 5.0, 0.0, 9.0], 0.55);
        let best = (1..10_000).map(|step| {
            // p_1 / 4 + p_2 / 2 + p_4 = mean and p_1 + p_2 + p_4 = 1.
            let p1 = f64::from(step) / 10_000.0;
            let p4 = 2.0 * mean - 1.0 + p1 / 2.0;
            let terms = [(counts[1], p1), (counts[2], 1.0 - p1 - p4), (counts[4], p4)];
            terms.iter().map(|(count, p): &(f64, f64)| count * (p * 17.0 / count).ln()).sum::<f64>()
        });
        let best = -2.0 * best.filter(|sum| !sum.is_nan()).fold(f64::NEG_INFINITY, f64::max);
        let found = Pentanomial::from([0, 3, 5, 0, 9]).deviance(mean);
        assert!((found - best).abs() < 1e-5, "{found} {best}");
    }

    #[test]
    fn intervals_are_wide_for_few_pairs() {
        let interval = |counts: [usize; 5]| Pentanomial::from(counts).score_interval();
        assert_eq!(interval([0; 5]), [0.0, 1.0]);
        assert_eq!(interval([0, 0, 1, 0, 0]), [0.0, 1.0]);
        let [low, high] = interval([0, 0, 0, 0, 10]);
        assert!((0.76..0.79).contains(&low) && high == 1.0, "{low}");
        let [low, high] = interval([0, 0, 50, 0, 0]);
        assert!((0.47..0.49).contains(&low) && close(low, 1.0 - high), "{low} {high}");
        let pairs = Pentanomial::from([0, 0, 0, 0, 10]);
        assert!(pairs.elo() == f64::INFINITY && pairs.elo_interval()[0].is_finite());
    }

    #[test]
    fn large_matches_agree_with_the_normal_approximation() {
        let pairs = Pentanomial::from([1000, 1400, 3000, 2600, 2000]);
        let error = (pairs.variance() / 10_000.0).sqrt();
        let [low, high] = pairs.score_interval();
        assert!((low - (pairs.score() - 1.96 * error)).abs() < 1e-4, "{low}");
        assert!((high - (pairs.score() + 1.96 * error)).abs() < 1e-4, "{high}");
    }

    #[test]
    fn superiority() {
        assert_eq!(Pentanomial::default().superiority(), Pentanomial::from([3, 1, 5, 1, 3]).superiority());
        // The first count at which the interval excludes one half.
        let counts = (0..50).map(|more| Pentanomial::from([20, 0, 10, 0, 20 + more]));
        let edge = counts.into_iter().find(|pairs| pairs.score_interval()[0] > 0.5).expect("more wins");
        assert!((0.975..0.98).contains(&edge.superiority()), "{edge:?}");
        let pairs = Pentanomial::from([5, 4, 20, 10, 12]);
        assert!((0.9..1.0).contains(&pairs.superiority()));
        assert!((pairs.superiority() + pairs.swapped().superiority() - 1.0).abs() < 1e-6);
    }
}

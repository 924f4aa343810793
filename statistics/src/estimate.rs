//! Estimates with intervals, and whether two of them differ.

/// A number that was measured, with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// 95 % interval.
    pub interval: [f64; 2],
}

impl Estimate {
    /// This estimate minus an independent one. The interval combines the distances of both estimates to the ends of their
    /// intervals (Zou and Donner, 2008, "Construction of confidence limits about effect measures", eq. 3).
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let value = self.value - other.value;
        let [low, high] = self.distances();
        let [other_low, other_high] = other.distances();
        Self { value, interval: [value - low.hypot(other_high), value + high.hypot(other_low)] }
    }

    /// The mean of independent estimates, with the distances of all to the ends of their intervals; `None` without any.
    #[must_use]
    pub fn mean(estimates: &[Self]) -> Option<Self> {
        let count = estimates.len() as f64;
        let value = estimates.iter().map(|one| one.value).sum::<f64>() / count;
        let [low, high] = [0, 1].map(|end| estimates.iter().fold(0.0, |sum: f64, one| sum.hypot(one.distances()[end])));
        (!estimates.is_empty()).then_some(Self { value, interval: [value - low / count, value + high / count] })
    }

    /// In words, of a difference in which more is better: `better` or `worse` where the interval leaves 0 out.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match self.interval {
            [low, _] if low > 0.0 => "better",
            [_, high] if high < 0.0 => "worse",
            _ => "no clear difference",
        }
    }

    fn distances(&self) -> [f64; 2] {
        [self.value - self.interval[0], self.interval[1] - self.value]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_the_interval_of_both() {
        // 56 of 70 against 48 of 80 with Wilson's intervals (Newcombe, 1998, table II, method 10).
        let one = Estimate { value: 0.8, interval: [0.691_834, 0.876_953] };
        let other = Estimate { value: 0.6, interval: [0.490_455, 0.700_382] };
        let [low, high] = one.minus(&other).interval;
        assert!((low - 0.0524).abs() < 1e-4 && (high - 0.3339).abs() < 1e-4, "{low} {high}");
        assert_eq!((one.minus(&other).verdict(), other.minus(&one).verdict()), ("better", "worse"));
        assert_eq!(one.minus(&one).verdict(), "no clear difference");
    }

    #[test]
    fn a_mean_of_four_has_half_the_interval() {
        let one = Estimate { value: 0.5, interval: [0.3, 0.6] };
        let mean = Estimate::mean(&[one; 4]).expect("there are some");
        assert!((mean.interval[0] - 0.4).abs() < 1e-12 && (mean.interval[1] - 0.55).abs() < 1e-12, "{mean:?}");
        assert_eq!((mean.value, Estimate::mean(&[])), (0.5, None));
    }
}

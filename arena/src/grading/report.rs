//! Result of a grading: shares with intervals, by phase, and accuracy and calibration of the value head.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Z95;

/// Number of bins of the reliability diagram.
const BINS: usize = 10;

/// Grade of an agent on a truth set, with 95 % intervals.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Grade {
    /// Share of the moves that keep the value, over all positions.
    pub all: Share,
    /// The same over the critical positions, in which at least one move loses value.
    pub critical: Share,
    /// By phase: the shares over all positions and over the critical ones.
    pub phases: BTreeMap<String, [Share; 2]>,
    /// Mean loss of value per move, with 1 for a win, 0 for a draw and -1 for a loss: mean, and ends of its interval.
    pub regret: [f64; 3],
    /// Accuracy of the network's value head without search, if there is a network.
    pub value_head: Option<Calibration>,
}

/// Share of positions with its Wilson interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Share {
    /// Number of positions.
    pub positions: usize,
    /// Number of positions in which the condition holds, such as that the move keeps the value.
    pub kept: usize,
    /// 95 % interval of the share (Wilson 1927), 0..=1.
    pub interval: [f64; 2],
}

/// Accuracy and calibration of predicted probabilities of win, draw and loss.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Calibration {
    /// Positions in which the most probable outcome is the exact one.
    pub accuracy: Share,
    /// Mean squared error summed over the three probabilities (Brier, 1950): 0 is perfect and 2 the worst.
    pub brier: f64,
    /// Expected calibration error of the most probable outcome over ten bins of confidence (Guo et al., 2017), 0..=1.
    pub calibration_error: f64,
}

impl Grade {
    /// Summary in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let [all, critical] = [self.all, self.critical].map(|share| 100.0 * share.value());
        format!("{all:.1} % of moves keep the value, {critical:.1} % of {} critical", self.critical.positions)
    }
}

impl Share {
    /// Counts how many of the results are true.
    pub fn of(results: impl Iterator<Item = bool>) -> Self {
        let (mut positions, mut kept) = (0, 0);
        for result in results {
            positions += 1;
            kept += usize::from(result);
        }
        Self { positions, kept, interval: wilson(kept, positions) }
    }

    /// The share, 0..=1; 1 without positions.
    #[must_use]
    pub fn value(&self) -> f64 {
        if self.positions == 0 { 1.0 } else { self.kept as f64 / self.positions as f64 }
    }
}

fn wilson(kept: usize, positions: usize) -> [f64; 2] {
    if positions == 0 {
        return [0.0, 1.0];
    }
    let (n, p) = (positions as f64, kept as f64 / positions as f64);
    let centre = p + Z95 * Z95 / (2.0 * n);
    let spread = Z95 * (p * (1.0 - p) / n + Z95 * Z95 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z95 * Z95 / n;
    [((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0)]
}

/// Mean of the samples, and the ends of its 95 % interval.
pub(super) fn mean_with_interval(samples: impl Iterator<Item = f64>) -> [f64; 3] {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for sample in samples {
        n += 1.0;
        sum += sample;
        squares += sample * sample;
    }
    let mean = sum / f64::max(n, 1.0);
    let variance = (squares / f64::max(n, 1.0) - mean * mean).max(0.0);
    let error = Z95 * (variance / f64::max(n, 1.0)).sqrt();
    [mean, mean - error, mean + error]
}

impl Calibration {
    /// Computes the calibration of predicted probabilities of win, draw and loss against exact values, both for the
    /// mover.
    #[must_use]
    pub fn of(predictions: &[([f32; 3], i8)]) -> Self {
        let outcome = |value: i8| usize::from((1 - value) as u8);
        let likeliest = |p: &[f32; 3]| (0..3).max_by(|&a, &b| p[a].total_cmp(&p[b])).expect("three outcomes");
        let n = predictions.len() as f64;
        let mut brier = 0.0;
        let mut bins = [(0.0, 0.0); BINS]; // sums of confidence and of hits
        for (p, value) in predictions {
            let truth = outcome(*value);
            brier += (0..3).map(|i| (f64::from(p[i]) - f64::from(u8::from(i == truth))).powi(2)).sum::<f64>();
            let guess = likeliest(p);
            let bin = ((p[guess] * BINS as f32) as usize).min(BINS - 1);
            bins[bin].0 += f64::from(p[guess]);
            bins[bin].1 += f64::from(u8::from(guess == truth));
        }
        Self {
            accuracy: Share::of(predictions.iter().map(|(p, value)| likeliest(p) == outcome(*value))),
            brier: brier / n,
            calibration_error: bins.iter().map(|(confidence, hits)| (confidence - hits).abs()).sum::<f64>() / n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_intervals() {
        // 81 of 100, with the interval of 0.722 to 0.875 given in textbooks.
        let [low, high] = wilson(81, 100);
        assert!((low - 0.7222).abs() < 1e-3 && (high - 0.8751).abs() < 1e-3, "{low} {high}");
        let [low, high] = wilson(50, 50);
        assert!((low - 0.9287).abs() < 1e-3 && high == 1.0);
    }

    #[test]
    fn calibration_of_right_and_wrong_predictions() {
        let sure = Calibration::of(&[([1.0, 0.0, 0.0], 1), ([0.0, 0.0, 1.0], -1)]);
        assert_eq!((sure.accuracy.kept, sure.brier, sure.calibration_error), (2, 0.0, 0.0));
        let wrong = Calibration::of(&[([1.0, 0.0, 0.0], -1)]);
        assert_eq!((wrong.accuracy.kept, wrong.brier, wrong.calibration_error), (0, 2.0, 1.0));
    }
}

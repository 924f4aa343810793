//! Statistics of match results: scores, Elo differences with intervals, sequential tests, joint ratings.
//!
//! The unit of observation is the pair: two games from the same opening with the seats swapped, which yield 0, 1/2, 1,
//! 3/2 or 2 points together. The games of a pair depend on each other through their opening; pairs are independent. Elo
//! always refers to the expected share of a pair's points, `1 / (1 + 10^(-d / 400))` at difference `d`, so that the
//! numbers of a match and of a joint rating agree.

mod pentanomial;
mod sprt;
mod rating;
mod estimate;
#[cfg(test)]
mod simulation_tests;

pub use estimate::Estimate;
pub use pentanomial::{MatchScore, Pentanomial};
pub use rating::{Pairing, Ratings};
pub use sprt::{Decision, Sprt, SprtError, SprtState};

/// Two-sided 95 % quantile of the standard normal distribution.
pub const Z95: f64 = 1.959_963_985;

/// Elo per unit of log-odds, `400 / ln 10`.
const ELO: f64 = 173.717_792_761_240_93;

/// Elo difference of an expected score: `400 log10(s / (1 - s))`; infinite at 0 and 1.
#[must_use]
pub fn elo_of(score: f64) -> f64 {
    ELO * (score / (1.0 - score)).ln()
}

/// Expected score at an Elo difference; the inverse of [`elo_of`].
#[must_use]
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + (-elo / ELO).exp())
}

/// Probability that a standard normal variable is at most `z`, to 1e-7 (Abramowitz and Stegun, 1964, 26.2.17).
fn normal(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let tail =
        series.iter().rev().fold(0.0, |sum, c| (sum + c) * t) * (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// Standard normal value with the same tail probability as Student's `t` with `freedom` degrees of freedom, to 1 % from
/// 4 degrees on (Wallace, 1959).
fn normal_of_student(t: f64, freedom: f64) -> f64 {
    let z = (freedom * (t * t / freedom).ln_1p()).sqrt() * (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0);
    z.copysign(t)
}

/// Two-sided 95 % quantile of Student's t distribution; the inverse of [`normal_of_student`].
fn student95(freedom: f64) -> f64 {
    let z = Z95 * (8.0 * freedom + 3.0) / (8.0 * freedom + 1.0);
    (freedom * (z * z / freedom).exp_m1()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elo_and_score_are_inverse() {
        assert_eq!((elo_of(0.5), score_of(0.0)), (0.0, 0.5));
        assert_eq!((elo_of(0.0), elo_of(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!((score_of(400.0) - 10.0 / 11.0).abs() < 1e-12);
        assert!((elo_of(score_of(-137.0)) + 137.0).abs() < 1e-9);
    }

    #[test]
    fn the_normal_distribution() {
        for (z, p) in [(0.0, 0.5), (1.0, 0.841_344_746), (Z95, 0.975), (-3.0, 0.001_349_898), (-40.0, 0.0)] {
            assert!((normal(z) - p).abs() < 1e-7, "{z}");
        }
    }

    #[test]
    fn students_distribution() {
        for (freedom, t) in [(4.0, 2.776), (9.0, 2.262), (49.0, 2.0096), (1e9, 1.960)] {
            assert!((student95(freedom) - t).abs() < 0.02, "{freedom}: {}", student95(freedom));
            assert!((normal_of_student(-student95(freedom), freedom) + Z95).abs() < 1e-6, "{freedom}");
        }
    }
}

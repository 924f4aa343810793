//! Joint ratings of any number of agents on one Elo scale, from the pairs that they played with each other.

use super::{ELO, Pentanomial, Z95, normal};

/// Pairs between two agents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pairing {
    /// Indices of the agents.
    pub agents: [usize; 2],
    /// Their pairs, from the first agent's point of view.
    pub pairs: Pentanomial,
}

/// Ratings on the Elo scale with their covariance.
///
/// The model is that of Bradley and Terry (1952): the expected score of `i` against `j` is that of the Elo difference
/// of their ratings. A draw counts as half a win. The ratings maximise the likelihood of the scores, which is
/// equivalent to every agent's expected points being those that it made. As only the mean is modelled, draws and
/// openings need no parameter, and ratings agree with the Elo of a match; models with a parameter for draws (Davidson,
/// 1970; Rao and Kupper, 1967) yield ratings that do not: with half of all games drawn, a difference of 200 in
/// Davidson's model is a score of 64 %, Elo 100. In return, the likelihood contains no information about the variance
/// of a pair's points. The covariance is therefore the robust one, which is valid for any variance (White, 1982; for
/// scores between 0 and 1, Papke and Wooldridge, 1996): `H^-1 M H^-1`, with the Fisher information `H` and the variance
/// `M` of its gradient as observed over the pairs.
#[derive(Clone, PartialEq, Debug)]
pub struct Ratings {
    elo: Vec<f64>,
    /// Covariance matrix by rows, in Elo squared; 0 for anchors.
    covariance: Vec<Vec<f64>>,
}

/// Number of drawn pairs that are added for each agent, divided among its opponents; keeps the rating of a clean sweep
/// finite.
const DRAWN_PAIRS: f64 = 0.5;
/// Variance added to the observed one: that of half a pair between equal agents in which one player wins both games.
const DOUBT: f64 = 0.125;
/// Standard deviation of the normal prior, in log-odds (about 3,500 Elo). It gives ratings to agents without a common
/// opponent, with intervals wide enough to show that nothing is known.
const PRIOR_DEVIATION: f64 = 20.0;

impl Ratings {
    /// Fits the ratings of `anchors.len()` agents. Agents with an anchor keep this rating, in Elo, and the others are
    /// on its scale, with intervals that take the anchors as exact. Without anchors the mean of all ratings is 0.
    ///
    /// # Panics
    /// If a pairing has an index that is out of range, or the same agent twice.
    #[must_use]
    pub fn new(pairings: &[Pairing], anchors: &[Option<f64>]) -> Self {
        assert!(pairings.iter().all(|p| p.agents[0] != p.agents[1] && p.agents.iter().all(|&i| i < anchors.len())));
        let fixed: Vec<f64> = anchors.iter().flatten().map(|elo| elo / ELO).collect();
        let centre = fixed.iter().sum::<f64>() / fixed.len().max(1) as f64;
        let mut theta: Vec<f64> = anchors.iter().map(|anchor| anchor.map_or(centre, |elo| elo / ELO)).collect();
        let fit = Fit {
            pairings,
            added: added(pairings, anchors.len()),
            free: anchors.iter().map(Option::is_none).collect(),
            centre,
        };
        fit.climb(&mut theta);
        let mut covariance = fit.covariance(&theta);
        if fixed.is_empty() {
            centred(&mut theta, &mut covariance);
        }
        covariance.iter_mut().flatten().for_each(|value| *value *= ELO * ELO);
        let elo = theta.iter().zip(anchors).map(|(theta, anchor)| anchor.unwrap_or(ELO * theta)).collect();
        Self { elo, covariance }
    }

    /// Rating of an agent, in Elo.
    #[must_use]
    pub fn elo(&self, agent: usize) -> f64 {
        self.elo[agent]
    }

    /// Rank of an agent, from 1; of equal ratings the lower index ranks first.
    #[must_use]
    pub fn rank(&self, agent: usize) -> usize {
        let better =
            |other: usize| self.elo[other] > self.elo[agent] || self.elo[other] == self.elo[agent] && other < agent;
        1 + (0..self.elo.len()).filter(|&other| better(other)).count()
    }

    /// The agent that ranks directly below, if there is one.
    #[must_use]
    pub fn next(&self, agent: usize) -> Option<usize> {
        let next = self.rank(agent) + 1;
        (0..self.elo.len()).find(|&other| self.rank(other) == next)
    }

    /// 95 % interval of an agent's rating, in Elo.
    #[must_use]
    pub fn interval(&self, agent: usize) -> [f64; 2] {
        around(self.elo[agent], self.covariance[agent][agent])
    }

    /// Difference of the first agent's rating to the second's, in Elo, with its 95 % interval. This interval is
    /// narrower than the intervals of the two ratings suggest, as these include the uncertainty of the common zero.
    #[must_use]
    pub fn difference(&self, a: usize, b: usize) -> (f64, [f64; 2]) {
        let elo = self.elo[a] - self.elo[b];
        (elo, around(elo, self.variance_between(a, b)))
    }

    /// Likelihood of superiority, 0..=1: confidence that the first agent is stronger than the second.
    #[must_use]
    pub fn superiority(&self, a: usize, b: usize) -> f64 {
        let error = self.variance_between(a, b).sqrt();
        if error > 0.0 { normal((self.elo[a] - self.elo[b]) / error) } else { 0.5 }
    }

    fn variance_between(&self, a: usize, b: usize) -> f64 {
        self.covariance[a][a] + self.covariance[b][b] - 2.0 * self.covariance[a][b]
    }
}

fn around(elo: f64, variance: f64) -> [f64; 2] {
    let reach = Z95 * variance.max(0.0).sqrt();
    [elo - reach, elo + reach]
}

/// Number of drawn pairs added to each pairing.
fn added(pairings: &[Pairing], agents: usize) -> Vec<f64> {
    let mut opponents = vec![0.0; agents];
    pairings.iter().flat_map(|pairing| pairing.agents).for_each(|agent| opponents[agent] += 1.0);
    let share = |agent: usize| 0.5 * DRAWN_PAIRS / opponents[agent];
    pairings.iter().map(|Pairing { agents: [a, b], .. }| share(*a) + share(*b)).collect()
}

/// Shifts the ratings to mean 0, which removes the uncertainty of the zero from the covariance.
fn centred(theta: &mut [f64], covariance: &mut [Vec<f64>]) {
    let size = theta.len().max(1) as f64;
    let mean = theta.iter().sum::<f64>() / size;
    theta.iter_mut().for_each(|theta| *theta -= mean);
    let means: Vec<f64> = covariance.iter().map(|row| row.iter().sum::<f64>() / size).collect();
    let mean = means.iter().sum::<f64>() / size;
    for (row, row_mean) in covariance.iter_mut().zip(&means) {
        row.iter_mut().zip(&means).for_each(|(value, column_mean)| *value += mean - row_mean - column_mean);
    }
}

/// The likelihood to be maximised, in log-odds.
struct Fit<'a> {
    pairings: &'a [Pairing],
    /// Number of drawn pairs added to each pairing.
    added: Vec<f64>,
    free: Vec<bool>,
    centre: f64,
}

impl Fit<'_> {
    /// Maximises the likelihood by Newton's method, with damped steps under which likelihoods of this kind are certain
    /// to increase (generalised self-concordance; Sun and Tran-Dinh, 2019).
    fn climb(&self, theta: &mut [f64]) {
        for _ in 0..200 {
            let root = Cholesky::new(self.matrix(theta, |_, weight, p| weight * p * (1.0 - p)));
            let step = root.solve(self.gradient(theta));
            let reach = self.pairings.iter().map(|p| (step[p.agents[0]] - step[p.agents[1]]).abs()).fold(0.0, f64::max);
            let length = if reach > 0.0 { reach.ln_1p() / reach } else { 1.0 };
            theta.iter_mut().zip(&step).for_each(|(theta, step)| *theta += length * step);
            if step.iter().all(|step| step.abs() < 1e-10) {
                break;
            }
        }
    }

    fn gradient(&self, theta: &[f64]) -> Vec<f64> {
        let prior = |&theta: &f64| (self.centre - theta) / PRIOR_DEVIATION.powi(2);
        let mut gradient: Vec<f64> = theta.iter().map(prior).collect();
        for (Pairing { agents: [a, b], pairs }, added) in self.pairings.iter().zip(&self.added) {
            let played = pairs.pairs() as f64;
            let surplus = played * pairs.score() + added / 2.0 - (played + added) * expected(theta, [*a, *b]);
            gradient[*a] += surplus;
            gradient[*b] -= surplus;
        }
        gradient.iter_mut().zip(&self.free).filter(|(_, free)| !**free).for_each(|(value, _)| *value = 0.0);
        gradient
    }

    /// Sum over the pairings of a weight times the square of `e_a - e_b`, plus the prior's precision; anchors, which
    /// are fixed, have rows of the unit matrix. The arguments of `weight` are the pairing, its number of pairs
    /// including the added ones, and its expected score.
    fn matrix(&self, theta: &[f64], weight: impl Fn(&Pairing, f64, f64) -> f64) -> Vec<Vec<f64>> {
        let mut matrix = vec![vec![0.0; theta.len()]; theta.len()];
        for (pairing, added) in self.pairings.iter().zip(&self.added) {
            let [a, b] = pairing.agents;
            let weight = weight(pairing, pairing.pairs.pairs() as f64 + added, expected(theta, [a, b]));
            for (row, column, sign) in [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)] {
                if self.free[row] && self.free[column] {
                    matrix[row][column] += sign * weight;
                }
            }
        }
        for (i, free) in self.free.iter().enumerate() {
            matrix[i][i] += if *free { PRIOR_DEVIATION.powi(-2) } else { 1.0 };
        }
        matrix
    }

    /// `H^-1 M H^-1`. The dispersion of a pairing is the variance of its pairs relative to the greatest possible one.
    /// The observed dispersion is shrunk towards 1 by [`DOUBT`], so that few pairs or a clean sweep do not look
    /// certain.
    fn covariance(&self, theta: &[f64]) -> Vec<Vec<f64>> {
        let root = Cholesky::new(self.matrix(theta, |_, weight, p| weight * p * (1.0 - p)));
        let spread = self.matrix(theta, |pairing, weight, p| {
            let most = pairing.pairs.pairs() as f64 * p * (1.0 - p);
            let dispersion = (pairing.pairs.squares_around(p) + DOUBT) / (most + DOUBT);
            dispersion * weight * p * (1.0 - p)
        });
        // H^-1 M; its rows are columns of M H^-1 as both matrices are symmetric.
        let half: Vec<Vec<f64>> = spread.into_iter().map(|row| root.solve(row)).collect();
        let transposed = (0..theta.len()).map(|i| half.iter().map(|row| row[i]).collect());
        let mut covariance: Vec<Vec<f64>> = transposed.map(|row| root.solve(row)).collect();
        for (i, _) in self.free.iter().enumerate().filter(|(_, free)| !**free) {
            covariance[i][i] = 0.0;
        }
        covariance
    }
}

fn expected(theta: &[f64], [a, b]: [usize; 2]) -> f64 {
    1.0 / (1.0 + (theta[b] - theta[a]).exp())
}

/// Cholesky decomposition of a symmetric, positive definite matrix.
struct Cholesky(Vec<Vec<f64>>);

impl Cholesky {
    fn new(mut matrix: Vec<Vec<f64>>) -> Self {
        for i in 0..matrix.len() {
            for j in 0..=i {
                let rest = matrix[i][j] - (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum::<f64>();
                matrix[i][j] = if i == j { rest.sqrt() } else { rest / matrix[j][j] };
            }
        }
        Self(matrix)
    }

    /// Solves for the `x` whose product with the matrix is `values`.
    fn solve(&self, mut values: Vec<f64>) -> Vec<f64> {
        let (root, size) = (&self.0, values.len());
        for i in 0..size {
            let known: f64 = (0..i).map(|k| root[i][k] * values[k]).sum();
            values[i] = (values[i] - known) / root[i][i];
        }
        for i in (0..size).rev() {
            let known: f64 = (i + 1..size).map(|k| root[k][i] * values[k]).sum();
            values[i] = (values[i] - known) / root[i][i];
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairing(a: usize, b: usize, counts: [usize; 5]) -> Pairing {
        Pairing { agents: [a, b], pairs: counts.into() }
    }

    #[test]
    fn a_matrix_is_solved() {
        let matrix = vec![vec![4.0, 2.0, 0.0], vec![2.0, 5.0, 2.0], vec![0.0, 2.0, 5.0]];
        // 4 * 1 + 2 * 2 = 8, 2 * 1 + 5 * 2 + 2 * 3 = 18, 2 * 2 + 5 * 3 = 19.
        let x = Cholesky::new(matrix).solve(vec![8.0, 18.0, 19.0]);
        assert!(x.iter().zip([1.0, 2.0, 3.0]).all(|(x, known)| (x - known).abs() < 1e-12), "{x:?}");
    }

    #[test]
    fn two_agents_get_the_elo_of_their_match() {
        let one = pairing(0, 1, [10, 40, 200, 150, 100]);
        let ratings = Ratings::new(&[one], &[None, None]);
        let (elo, [low, high]) = ratings.difference(0, 1);
        let [known_low, known_high] = one.pairs.elo_interval();
        assert!((elo - one.pairs.elo()).abs() < 0.2, "{elo}");
        assert!((low - known_low).abs() < 1.0 && (high - known_high).abs() < 1.0, "{low} {high}");
        assert!((ratings.elo(0) + ratings.elo(1)).abs() < 1e-6);
        assert!((ratings.superiority(0, 1) - one.pairs.superiority()).abs() < 0.01);
    }

    /// Scores of exactly 10/11 and 100/101 are 400 and 800 Elo, so that all three pairings agree.
    #[test]
    fn ratings_add_up_along_a_chain() {
        let pairings = [
            pairing(0, 1, [100, 0, 0, 0, 1000]),
            pairing(1, 2, [100, 0, 0, 0, 1000]),
            pairing(0, 2, [10, 0, 0, 0, 1000]),
        ];
        let ratings = Ratings::new(&pairings, &[None, None, Some(1000.0)]);
        assert!((ratings.elo(0) - 1800.0).abs() < 3.0, "{}", ratings.elo(0));
        assert!((ratings.elo(1) - 1400.0).abs() < 3.0, "{}", ratings.elo(1));
        assert_eq!(ratings.interval(2), [1000.0, 1000.0]);
    }

    #[test]
    fn a_sweep_stays_finite_and_uncertain() {
        let ratings = Ratings::new(&[pairing(0, 1, [0, 0, 0, 0, 50])], &[None, Some(0.0)]);
        let (elo, [low, high]) = (ratings.elo(0), ratings.interval(0));
        let [known, _] = pairing(0, 1, [0, 0, 0, 0, 50]).pairs.elo_interval();
        assert!(
            elo > known && low < known + 50.0 && low > 200.0 && high > elo + 200.0 && high.is_finite(),
            "{elo} [{low}, {high}]"
        );
    }

    #[test]
    fn unconnected_agents_have_wide_intervals() {
        let ratings = Ratings::new(&[pairing(0, 1, [1, 2, 3, 2, 1])], &[None, None, None]);
        let (_, [low, high]) = ratings.difference(0, 2);
        assert!(low < -4000.0 && high > 4000.0, "{low} {high}");
        assert!(Ratings::new(&[], &[]).elo.is_empty());
        assert_eq!(Ratings::new(&[], &[None]).interval(0), [0.0, 0.0]);
    }
}

//! Sequential probability ratio test: continues until one of two Elo differences is refuted.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use super::{Pentanomial, score_of};

/// Test of `elo0` (H0) against `elo1` (H1) on the pairs of a match (Wald, 1945; as a generalised likelihood ratio over
/// the pentanomial counts, Van den Bergh, "A practical introduction to the GSPRT", 2020). The text form is
/// `elo0=0,elo1=10,alpha=0.05,beta=0.05`, with error rates of 5 % if left out, or the numbers alone.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

/// Greatest Elo difference of a hypothesis, in both directions: an expected score of 0.9968.
const MOST_ELO: f64 = 1000.0;

/// Least error rate of a test.
const LEAST_RATE: f64 = 1e-6;

/// Decision of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Neither difference is refuted yet.
    Continue,
    /// The difference is `elo0` rather than `elo1`.
    AcceptH0,
    /// The difference is `elo1` rather than `elo0`.
    AcceptH1,
}

/// State of a test after a number of pairs.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct SprtState {
    /// Hypotheses and error rates.
    pub test: Sprt,
    /// Logarithm of the likelihood ratio of the pairs, `elo1` to `elo0`.
    pub log_likelihood_ratio: f64,
    /// H0 is accepted at or below the first bound, H1 at or above the second.
    pub bounds: [f64; 2],
    /// Decision that follows from the ratio and the bounds.
    pub decision: Decision,
}

/// Reason why a test is not valid.
#[derive(Clone, PartialEq, Debug)]
pub enum SprtError {
    /// The text does not have the expected form.
    Form(String),
    /// `elo0` is not below `elo1`, or one of them is beyond 1,000 Elo.
    Elo(f64, f64),
    /// An error rate is out of range.
    Rate(f64),
}

impl Display for SprtError {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Form(text) => write!(
                f,
                "SPRT: expected elo0=0,elo1=10 and, if not 0.05, alpha= and beta=, or the numbers alone, not `{text}`"
            ),
            Self::Elo(elo0, elo1) => {
                write!(f, "SPRT: elo0 = {elo0} must be below elo1 = {elo1}, and both from {} to {MOST_ELO}", -MOST_ELO)
            }
            Self::Rate(rate) => write!(f, "SPRT: the error rate {rate} is not from {LEAST_RATE} to below 0.5"),
        }
    }
}

impl std::error::Error for SprtError {}

impl Sprt {
    /// Creates a test that accepts `elo1` with probability at most `alpha` if the true difference is `elo0`, and `elo0`
    /// with probability at most `beta` if it is `elo1`.
    ///
    /// # Errors
    /// `elo0` is not below `elo1`, one of them is not from -1000 to 1000, or an error rate is not from 1e-6 to below 1/2.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Self, SprtError> {
        if !([elo0, elo1].iter().all(|elo| elo.abs() <= MOST_ELO) && elo0 < elo1) {
            return Err(SprtError::Elo(elo0, elo1));
        }
        match [alpha, beta].into_iter().find(|rate| !(*rate >= LEAST_RATE && *rate < 0.5)) {
            Some(rate) => Err(SprtError::Rate(rate)),
            None => Ok(Self { elo0, elo1, alpha, beta }),
        }
    }

    /// Logarithm of the generalised likelihood ratio of the pairs, `elo1` to `elo0`.
    #[must_use]
    pub fn log_likelihood_ratio(&self, pairs: &Pentanomial) -> f64 {
        (pairs.deviance(score_of(self.elo0)) - pairs.deviance(score_of(self.elo1))) / 2.0
    }

    /// Bounds that end the test: `ln beta` and `-ln alpha`. These probabilities limit the chance that the ratio ever
    /// reaches the wrong bound (Ville, 1939). Wald's own `ln(beta / (1 - alpha))` and `ln((1 - beta) / alpha)` end a
    /// test 2 % earlier, but limit only the sum of the two error rates.
    #[must_use]
    pub fn bounds(&self) -> [f64; 2] {
        [self.beta.ln(), -self.alpha.ln()]
    }

    /// State of the test after these pairs.
    #[must_use]
    pub fn state(&self, pairs: &Pentanomial) -> SprtState {
        let (ratio, bounds) = (self.log_likelihood_ratio(pairs), self.bounds());
        let decision = match ratio {
            _ if ratio <= bounds[0] => Decision::AcceptH0,
            _ if ratio >= bounds[1] => Decision::AcceptH1,
            _ => Decision::Continue,
        };
        SprtState { test: *self, log_likelihood_ratio: ratio, bounds, decision }
    }

    /// Decision after these pairs. For a match that does not depend on scheduling, ask after every pair in the order of
    /// their numbers and stop at the first decision.
    #[must_use]
    pub fn decide(&self, pairs: &Pentanomial) -> Decision {
        self.state(pairs).decision
    }
}

impl SprtState {
    /// Hypotheses and error rates in words.
    #[must_use]
    pub fn hypotheses(&self) -> String {
        let Sprt { elo0, elo1, alpha, beta } = self.test;
        format!("Elo {elo0} (H0) against {elo1} (H1), alpha {alpha}, beta {beta}")
    }
}

impl FromStr for Sprt {
    type Err = SprtError;

    fn from_str(text: &str) -> Result<Self, SprtError> {
        const KEYS: [&str; 4] = ["elo0", "elo1", "alpha", "beta"];
        let wrong = || SprtError::Form(text.to_owned());
        let mut values = [None, None, Some(0.05), Some(0.05)];
        for (place, part) in text.split(',').enumerate() {
            let (key, value) = part.split_once('=').unwrap_or((KEYS.get(place).copied().unwrap_or_default(), part));
            let place = KEYS.iter().position(|known| *known == key.trim()).ok_or_else(wrong)?;
            values[place] = Some(value.trim().parse().map_err(|_| wrong())?);
        }
        let [Some(elo0), Some(elo1), Some(alpha), Some(beta)] = values else { return Err(wrong()) };
        Self::new(elo0, elo1, alpha, beta)
    }
}

impl TryFrom<String> for Sprt {
    type Error = SprtError;

    fn try_from(text: String) -> Result<Self, SprtError> {
        text.parse()
    }
}

impl From<Sprt> for String {
    fn from(test: Sprt) -> Self {
        test.to_string()
    }
}

impl Display for Sprt {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { elo0, elo1, alpha, beta } = self;
        write!(f, "{elo0},{elo1},{alpha},{beta}")
    }
}

impl Display for Decision {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Continue => "undecided",
            Self::AcceptH0 => "H0 accepted",
            Self::AcceptH1 => "H1 accepted",
        })
    }
}

/// Decision with the ratio and its bounds, without the hypotheses.
impl Display for SprtState {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (ratio, [low, high]) = (self.log_likelihood_ratio, self.bounds);
        write!(f, "{}, LLR {ratio:.2} [{low:.2}, {high:.2}]", self.decision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_and_decisions() {
        let test = Sprt::new(0.0, 10.0, 0.05, 0.1).expect("a test");
        let [low, high] = test.bounds();
        assert!((low + 10f64.ln()).abs() < 1e-12 && (high - 20f64.ln()).abs() < 1e-12);
        assert_eq!(test.decide(&Pentanomial::default()), Decision::Continue);
        assert_eq!(test.decide(&[100, 300, 900, 500, 200].into()), Decision::AcceptH1);
        assert_eq!(test.decide(&[200, 500, 900, 300, 100].into()), Decision::AcceptH0);
    }

    /// The normal approximation described by fishtest's documentation: `n (s1 - s0) (2 s - s0 - s1) / (2 variance)`.
    #[test]
    fn the_ratio_is_near_its_normal_approximation() {
        let (test, pairs) =
            (Sprt::new(0.0, 5.0, 0.05, 0.05).expect("a test"), Pentanomial::from([210, 950, 2000, 1100, 240]));
        let [s0, s1] = [0.0, 5.0].map(score_of);
        let known = 4500.0 * (s1 - s0) * (2.0 * pairs.score() - s0 - s1) / (2.0 * pairs.variance());
        assert!((test.log_likelihood_ratio(&pairs) - known).abs() < 0.01 * known.abs(), "{known}");
    }

    #[test]
    fn invalid_tests_are_refused() {
        assert_eq!(Sprt::new(5.0, 5.0, 0.05, 0.05), Err(SprtError::Elo(5.0, 5.0)));
        assert_eq!(Sprt::new(0.0, f64::NAN, 0.05, 0.05).map_err(|error| error.to_string().contains("NaN")), Err(true));
        assert_eq!(Sprt::new(0.0, 5.0, 0.5, 0.05), Err(SprtError::Rate(0.5)));
        assert_eq!(Sprt::new(0.0, 5.0, 0.05, 0.0), Err(SprtError::Rate(0.0)));
        for beyond in ["0,1e9", "-1e300,0", "0,inf", "1e5,2e5", "0,1000.5", "0,10,1e-300", "0,10,0.05,nan"] {
            assert!(beyond.parse::<Sprt>().is_err(), "{beyond}");
        }
    }

    /// The widest tests, after matches of one result only, have a finite ratio.
    #[test]
    fn the_ratio_is_a_number_at_the_ends_of_the_range() {
        let widest: Sprt = "-1000,1000,0.000001,0.000001".parse().expect("a test");
        let close: Sprt = "999.999999,1000".parse().expect("a test");
        for pairs in [[0; 5], [1_000_000, 0, 0, 0, 0], [0, 0, 0, 0, 1_000_000], [0, 0, 7, 0, 0], [1, 0, 0, 0, 1]] {
            for test in [widest, close] {
                let state = test.state(&pairs.into());
                assert!(
                    state.log_likelihood_ratio.is_finite() && state.bounds.iter().all(|b| b.is_finite()),
                    "{state}"
                );
            }
        }
    }

    #[test]
    fn tests_as_text() {
        let test: Sprt = "-2, 5".parse().expect("a test");
        assert_eq!((Ok(test), test.to_string().as_str()), (Sprt::new(-2.0, 5.0, 0.05, 0.05), "-2,5,0.05,0.05"));
        assert_eq!(test.to_string().parse(), Ok(test));
        assert_eq!("elo1=5, elo0=-2,beta=0.1".parse(), Sprt::new(-2.0, 5.0, 0.05, 0.1));
        for wrong in ["", "5", "a,b", "0,5,0.05,0.05,1", "elo0=1,beta=0.1", "elo=0,elo1=5"] {
            assert_eq!(wrong.parse::<Sprt>(), Err(SprtError::Form(wrong.into())));
        }
        let json = serde_json::to_string(&test.state(&Pentanomial::default())).expect("JSON");
        assert!(json.starts_with(r#"{"test":"-2,5,0.05,0.05","log_likelihood_ratio":0.0,"#), "{json}");
    }
}

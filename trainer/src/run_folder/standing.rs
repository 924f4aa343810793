//! The state of a run besides that of its learner.

use serde::{Deserialize, Serialize};

/// State of a run at the end of an iteration, besides the learner's state.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// Iterations finished.
    pub iteration: u64,
    /// Self-play games so far.
    pub games: u64,
    /// Self-play positions so far.
    pub positions: u64,
    /// The first iteration whose positions are in the replay window.
    pub window_from: u64,
    /// Score of the best checkpoint: on the ladder if the config uses it, else the mean over the opponents.
    pub best_score: Option<f64>,
    /// Learner step of the best checkpoint.
    #[serde(default)]
    pub best_step: Option<u64>,
    /// Iterations that were left out of the window because their shards were damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<u64>,
}

impl Standing {
    /// Bounds what a file may claim, so that no loop over it runs away.
    pub(super) fn validate(&self) -> Result<(), String> {
        const MOST_IN_WINDOW: u64 = 1_000_000;
        const MOST_PER_ITERATION: u64 = 1_000_000_000;
        let Self { iteration, games, positions, window_from, .. } = *self;
        let begun = iteration.saturating_add(1);
        if window_from > begun || begun - window_from > MOST_IN_WINDOW {
            return Err(format!("a window from iteration {window_from} to {iteration} cannot be"));
        }
        if games.max(positions) > iteration.saturating_mul(MOST_PER_ITERATION) {
            return Err(format!("{games} games with {positions} positions in {iteration} iterations cannot be"));
        }
        if self.best_score.is_some_and(|score| !score.is_finite()) {
            return Err("the best score is not finite".into());
        }
        Ok(())
    }
}

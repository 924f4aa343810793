//! Limits and stop flag of a search, and what it reports.

use std::time::Duration;

use turnstone_env::{Action, Side};
use turnstone_search::classic::{Control, Limits, SearchResult, WIN_BAND};
use turnstone_search::{Evaluation, Stop};

/// Limits of a search, stop flag and clock. The default uses the agent's own limits.
#[derive(Clone, Default, Debug)]
pub struct SearchRequest {
    /// Replaces the limits of the agent's spec; with all of them unset, the search runs until it is stopped.
    pub limits: Option<Limits>,
    /// Remaining time for the game, in games with clocks.
    pub remaining: Option<Duration>,
    /// Stop flag, upon which the seat answers with its best action within a second, and clock.
    pub control: Control,
    /// Whether progress is reported.
    pub reports: bool,
}

impl SearchRequest {
    /// With this stop flag.
    #[must_use]
    pub fn stopped_by(stop: &Stop) -> Self {
        Self { control: stop.clone().into(), ..Self::default() }
    }

    /// The same with reports.
    #[must_use]
    pub fn with_reports(self) -> Self {
        Self { reports: true, ..self }
    }
}

/// Result of a search, complete or so far.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct SearchInfo {
    /// Depth in plies: fully searched, or for a tree search the length of the principal variation.
    pub depth: u32,
    /// Number of positions visited, or of simulations.
    pub nodes: u64,
    /// Evaluation of the position, if there is one.
    pub score: Option<Score>,
    /// Principal variation, which begins with the chosen action.
    pub line: Vec<Action>,
}

impl SearchInfo {
    /// An action that was chosen without a search.
    #[must_use]
    pub fn of_action(action: Action) -> Self {
        Self { line: vec![action], ..Self::default() }
    }
}

/// Evaluation of a position for its mover.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Score {
    /// Score in the unit of the static evaluation, or the expected result in hundredths, -100 to 100.
    pub score: i32,
    /// Probabilities of win, draw and loss.
    pub win_draw_loss: [f32; 3],
}

impl Score {
    /// Converts the evaluation of a network or of playouts.
    #[must_use]
    pub fn of_estimate(estimate: Evaluation, mover: Side) -> Self {
        let win_draw_loss = estimate.win_draw_loss(mover);
        let score = 100.0 * (win_draw_loss[0] - win_draw_loss[2]);
        Self { score: score.round() as i32, win_draw_loss }
    }
}

/// Scale of a classical search's scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Score of a won game.
    pub(crate) won: i32,
    /// Lead that wins about three games of four, in the unit of the static evaluation.
    pub(crate) lead: f32,
}

impl Scale {
    /// Converts the result of a classical search. A result that does not depend on the static evaluation is certain;
    /// any other score wins with probability `1 / (1 + exp(-score / lead))` and never draws.
    pub(crate) fn score(self, found: &SearchResult, mover: Side) -> Score {
        let score = if mover == Side::First { found.score } else { -found.score };
        let certain = found.complete || score.abs() >= self.won - WIN_BAND;
        let win = 1.0 / (1.0 + (-score as f32 / self.lead).exp());
        let win_draw_loss = match score.signum() {
            _ if !certain => [win, 0.0, 1.0 - win],
            1 => [1.0, 0.0, 0.0],
            0 => [0.0, 1.0, 0.0],
            _ => [0.0, 0.0, 1.0],
        };
        Score { score, win_draw_loss }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn certain_results_differ_from_estimates() {
        let scale = Scale { won: 1000, lead: 10.0 };
        let found = |score, complete| SearchResult { score, complete, ..SearchResult::default() };
        let win_draw_loss = |found: &SearchResult, mover| scale.score(found, mover).win_draw_loss;
        assert_eq!(win_draw_loss(&found(990, false), Side::First), [1.0, 0.0, 0.0]);
        assert_eq!(win_draw_loss(&found(3, true), Side::Second), [0.0, 0.0, 1.0]);
        assert_eq!(win_draw_loss(&found(0, true), Side::Second), [0.0, 1.0, 0.0]);
        assert_eq!(win_draw_loss(&found(0, false), Side::First), [0.5, 0.0, 0.5]);
        let [win, _, _] = win_draw_loss(&found(-10, false), Side::Second);
        assert!((win - 0.731).abs() < 1e-3);
    }
}

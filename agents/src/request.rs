//! What a player may spend on a move, and who looks on while it does.

use turnstone_env::{Action, Side};
use turnstone_search::Evaluation;
use turnstone_search::classic::{Control, Limits, SearchResult, WIN_BAND};

/// A move's budget, a flag that ends it, and somebody who hears what has been found so far. The default is the agent's
/// own budget, and nobody.
#[derive(Default)]
pub struct SearchRequest<'a> {
    /// Bounds in place of those in the agent's spec; without any, the player thinks until it is stopped.
    pub limits: Option<Limits>,
    /// The flag that ends the search, upon which the player answers at once with the best it has, and the clock.
    pub control: Control,
    /// Hears of progress; the last it hears is what the player ended with.
    pub report: Option<&'a mut dyn FnMut(&SearchInfo)>,
}

impl SearchRequest<'_> {
    /// Whether anything is asked for but the agent's move within its own budget.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.limits.is_some() || self.report.is_some()
    }

    /// Reports a info, if anybody wants to know.
    pub(crate) fn tell(&mut self, info: impl FnOnce() -> SearchInfo) {
        if let Some(report) = &mut self.report {
            report(&info());
        }
    }
}

/// What a player thinks of a position.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchInfo {
    /// Plies that it has looked ahead: in full, or for a tree search the length of its line.
    pub depth: u32,
    /// Positions visited, or simulations of a tree search.
    pub nodes: u64,
    /// What the position is worth, if it has an opinion.
    pub score: Option<Score>,
    /// The line it expects, its own move first.
    pub line: Vec<Action>,
}

/// What a position is worth to its mover.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Score {
    /// The static evaluation's score in its own unit, or the expected result in hundredths, -100 to 100.
    pub score: i32,
    /// Probabilities of win, draw and loss.
    pub win_draw_loss: [f32; 3],
}

impl Score {
    /// The opinion of a network or of playouts.
    #[must_use]
    pub fn of_estimate(estimate: Evaluation, mover: Side) -> Self {
        let win_draw_loss = estimate.win_draw_loss(mover);
        let score = 100.0 * (win_draw_loss[0] - win_draw_loss[2]);
        Self { score: score.round() as i32, win_draw_loss }
    }
}

/// What the scores of a classical search mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// The score of a won game.
    pub(crate) won: i32,
    /// A lead that wins about three games of four.
    pub(crate) lead: f32,
}

impl Scale {
    /// The opinion of a classical search. A result that no estimate had a part in is certain; any other score wins with
    /// probability `1 / (1 + exp(-score / lead))` and never draws.
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
    fn certain_results_are_told_from_estimates() {
        let scale = Scale { won: 1000, lead: 10.0 };
        let found = |score, complete| SearchResult { score, complete, ..SearchResult::default() };
        let told = |found: &SearchResult, mover| scale.score(found, mover).win_draw_loss;
        assert_eq!(told(&found(990, false), Side::First), [1.0, 0.0, 0.0]);
        assert_eq!(told(&found(3, true), Side::Second), [0.0, 0.0, 1.0]);
        assert_eq!(told(&found(0, true), Side::Second), [0.0, 1.0, 0.0]);
        assert_eq!(told(&found(0, false), Side::First), [0.5, 0.0, 0.5]);
        let [win, _, _] = told(&found(-10, false), Side::Second);
        assert!((win - 0.731).abs() < 1e-3);
    }
}

//! How games end.

use crate::side::Side;

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Outcome {
    /// The winner, `None` for a draw.
    pub winner: Option<Side>,
    /// Score of `First` minus score of `Second` where the game keeps scores, else 0; in half points if
    /// [`Spec::half_points`](crate::Spec::half_points) says so.
    pub margin: i16,
    /// True if a limit on the number of plies ended the game (Gymnasium: `truncated`), false if a rule did.
    pub truncated: bool,
}

impl Outcome {
    /// A win by the rules, in a game that keeps no score.
    #[must_use]
    pub const fn win(winner: Side) -> Self {
        Self { winner: Some(winner), margin: 0, truncated: false }
    }

    /// The higher score wins, by the rules; `margin` is the score of `First` minus the score of `Second`.
    #[must_use]
    pub const fn by_margin(margin: i16) -> Self {
        let winner = match margin {
            0 => None,
            1.. => Some(Side::First),
            _ => Some(Side::Second),
        };
        Self { winner, margin, truncated: false }
    }

    /// A draw by the rules, in a game that keeps no score.
    #[must_use]
    pub const fn draw() -> Self {
        Self { winner: None, margin: 0, truncated: false }
    }

    /// A draw because a limit on the number of plies was reached.
    #[must_use]
    pub const fn truncation() -> Self {
        Self { winner: None, margin: 0, truncated: true }
    }

    /// The result for `First`: 1 for a win, 0 for a draw, -1 for a loss.
    #[must_use]
    pub const fn value(&self) -> i8 {
        match self.winner {
            Some(Side::First) => 1,
            None => 0,
            Some(Side::Second) => -1,
        }
    }

    /// The result as scripts read it: `player1`, `player2` or `draw`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.winner {
            Some(Side::First) => "player1",
            None => "draw",
            Some(Side::Second) => "player2",
        }
    }

    /// The result for `side`: 1 for a win, 0 for a draw, -1 for a loss.
    #[must_use]
    pub const fn value_for(&self, side: Side) -> i8 {
        match side {
            Side::First => self.value(),
            Side::Second => -self.value(),
        }
    }
}

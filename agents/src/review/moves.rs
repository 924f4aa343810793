//! The review of a move, and what a player has lost, as they are printed and written as JSON.

use serde::{Serialize, Serializer};

/// A move and what it has cost.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReviewedMove {
    /// Number of the move, from 1.
    pub ply: usize,
    /// Number of the player that made it.
    pub player: u8,
    /// Whether it belongs to an opening that no player has chosen; such moves have no mark.
    pub opening: bool,
    /// Text form of the move.
    #[serde(rename = "move")]
    pub played: String,
    /// The move as people see it.
    #[serde(skip)]
    pub shown: String,
    /// Text form of the position before it.
    pub position: String,
    /// Number of legal moves.
    pub legal: usize,
    /// Value of the position before the move.
    pub value: f64,
    /// Value of the position after it.
    pub value_after: f64,
    /// Where the loss comes from.
    pub source: Source,
    /// Expected points that the mover has lost by the move, where a win is 1 and a draw 0.5.
    pub loss: f64,
    /// Mark of the move, if it has one.
    pub mark: Option<Mark>,
    /// The best move, which is the move itself if none is better, and the expected line after it.
    pub best: Vec<String>,
    /// The same as people see it.
    #[serde(skip)]
    pub best_shown: Vec<String>,
}

/// Where the loss of a move comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Exact values.
    Exact,
    /// The search has proven the results before and after the move.
    Proof,
    /// The estimate of the search.
    Search,
}

impl Source {
    /// The name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Proof => "proof",
            Self::Search => "search",
        }
    }
}

/// Mark of a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// `??`
    Blunder,
    /// `?`
    Mistake,
    /// `?!`
    Inaccuracy,
    /// `!`: the only move that kept the value.
    Only,
}

impl Mark {
    /// The mark as it stands behind a move.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Blunder => "??",
            Self::Mistake => "?",
            Self::Inaccuracy => "?!",
            Self::Only => "!",
        }
    }

    /// The mark in a word or two.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Blunder => "blunder",
            Self::Mistake => "mistake",
            Self::Inaccuracy => "inaccuracy",
            Self::Only => "only move",
        }
    }
}

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.symbol())
    }
}

/// A player's losses in a game, without the moves of the opening.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct PlayerTotals {
    /// Number of moves.
    pub moves: usize,
    /// Mean loss of a move.
    pub mean_loss: f64,
    /// Number of moves marked `?!`.
    pub inaccuracies: usize,
    /// Number of moves marked `?`.
    pub mistakes: usize,
    /// Number of moves marked `??`.
    pub blunders: usize,
    /// Number of moves marked `!`.
    pub only_moves: usize,
}

impl PlayerTotals {
    /// The totals of a player.
    #[must_use]
    pub fn of(moves: &[ReviewedMove], player: u8) -> Self {
        let own = || moves.iter().filter(|played| played.player == player && !played.opening);
        let marked = |mark| own().filter(|played| played.mark == Some(mark)).count();
        let number = own().count();
        let sum: f64 = own().map(|played| played.loss).sum();
        Self {
            moves: number,
            mean_loss: (1e6 * sum / number.max(1) as f64).round() / 1e6,
            inaccuracies: marked(Mark::Inaccuracy),
            mistakes: marked(Mark::Mistake),
            blunders: marked(Mark::Blunder),
            only_moves: marked(Mark::Only),
        }
    }
}

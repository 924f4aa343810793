//! The review of a game, as it is printed and written as JSON.

use serde::{Serialize, Serializer};
use turnstone_env::Params;

/// Review of a game. Values are for player 1, from -1 (lost) to 1 (won).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Review {
    /// Version of the format, [`Review::FORMAT`].
    pub turnstone_review: u32,
    /// Name, version and commit of the program that wrote this.
    pub program: String,
    /// Name of the game.
    pub game: String,
    /// Version of the game's rules.
    pub version: u32,
    /// Parameters of the game.
    pub params: Params,
    /// The players, player 1 first; empty where the file does not name them.
    pub players: [String; 2],
    /// Text form of the first position.
    pub start: String,
    /// How the game ended, in words.
    pub ending: String,
    /// Spec of the agent that has searched.
    pub agent: String,
    /// Whether exact values were asked.
    pub exact: bool,
    /// The moves in order.
    pub moves: Vec<ReviewedMove>,
    /// What each player has lost, player 1 first.
    pub totals: [PlayerTotals; 2],
    /// Plies of the moves to look at, at most [`Review::MOST_MOMENTS`].
    pub moments: Vec<usize>,
}

impl Review {
    /// Version of the format that this program writes.
    pub const FORMAT: u32 = 1;
    /// Maximum number of moments.
    pub const MOST_MOMENTS: usize = 3;
}

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

    /// What the mark means, in a word or two.
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

/// What a player has lost in a game, without the moves of an opening.
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
    pub(super) fn of(moves: &[ReviewedMove], player: u8) -> Self {
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

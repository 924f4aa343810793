//! The review of a game, as it is printed and written as JSON.

use serde::Serialize;
use turnstone_agents::review::{PlayerTotals, ReviewedMove};
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
    /// The losses of each player, player 1 first.
    pub totals: [PlayerTotals; 2],
    /// Plies of the moves to look at.
    pub moments: Vec<usize>,
}

impl Review {
    /// Version of the format that this program writes.
    pub const FORMAT: u32 = 1;
}

//! Record of a match or tournament: its settings and all games, as written to disk and read by reports.

use serde::{Deserialize, Serialize};
use turnstone_base::words;
use turnstone_env::Params;

use super::Sprt;

/// Record of a match (two agents) or tournament (more), complete or up to an interruption.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TournamentRecord {
    /// Game, agents, settings and openings.
    #[serde(flatten)]
    pub header: TournamentHeader,
    /// Remarks for the reader, one line each, such as fewer openings than requested or an early stop.
    pub notes: Vec<String>,
    /// Games by number. The numbers `2i` and `2i + 1` form a pair: one opening with the seats swapped. After an
    /// interruption only finished games are present.
    pub games: Vec<GameRecord>,
}

/// Game, agents, settings and openings of a tournament. Without clocks, they determine the result for a given program
/// and files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TournamentHeader {
    /// Version of the file format, [`TournamentHeader::FORMAT`].
    pub turnstone_arena: u32,
    /// Name, version and commit of the program that wrote this, if it gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Name of the game.
    pub game: String,
    /// Version of the game.
    pub version: u32,
    /// Parameters of the game.
    pub params: Params,
    /// Specs of the agents, by index. Two of them may be equal.
    pub agents: Vec<String>,
    /// Checksum of each agent's network, if it has one.
    pub networks: Vec<Option<u32>>,
    /// Settings of the tournament.
    pub settings: TournamentSettings,
    /// Openings by number, each as its moves separated by spaces.
    pub openings: Vec<String>,
}

impl TournamentHeader {
    /// Version of the file format that this program reads and writes.
    pub const FORMAT: u32 = 1;
}

/// Settings of a tournament. They do not include the number of threads, which does not affect the result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TournamentSettings {
    /// Pairing system.
    pub format: TournamentFormat,
    /// Games per meeting of two agents, in pairs from one opening with the seats swapped; even.
    pub games: usize,
    /// Seed of the openings and the players' random choices.
    pub seed: u64,
    /// Time of each agent for all its moves of a game, in milliseconds; `None` for no clocks.
    pub clock: Option<u64>,
    /// Penalty for a player whose time runs out.
    pub out_of_time: Penalty,
    /// Sequential test that may end a match early.
    pub sprt: Option<Sprt>,
}

impl TournamentSettings {
    /// Settings with `games` games per meeting, rounded up to pairs, without clocks or a test.
    #[must_use]
    pub fn plain(format: TournamentFormat, games: usize, seed: u64) -> Self {
        Self { format, games: games.next_multiple_of(2), seed, clock: None, out_of_time: Penalty::Random, sprt: None }
    }
}

words! {
    /// Pairing system.
    pub enum TournamentFormat {
        /// All agents meet each other once; with two agents, a match.
        RoundRobin = "round-robin",
        /// The first agent meets each of the others.
        Gauntlet = "gauntlet",
    }
}

words! {
    /// Penalty for a player whose time has run out.
    pub enum Penalty {
        /// Random legal moves replace the player's.
        Random = "random",
        /// The player loses the game.
        Lose = "lose",
    }
}

/// Record of a game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRecord {
    /// Number in the tournament, from 0.
    pub number: usize,
    /// Indices of the agents that played the first and the second side.
    pub agents: [usize; 2],
    /// Number of the opening.
    pub opening: usize,
    /// Number of `moves` that belong to the opening.
    pub opening_plies: usize,
    /// Text form of all moves, those of the opening first.
    pub moves: Vec<String>,
    /// Result for the first side: 1, 0 or -1.
    pub result: i8,
    /// Reason for the end of the game.
    pub ending: Ending,
    /// Faults in their order; if the game was lost by a fault, it is the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<Incident>,
}

/// Reason for the end of a game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// A rule of the game.
    Rules,
    /// The game's ply limit, which ends it as a draw.
    Limit,
    /// A player's time ran out.
    OutOfTime,
    /// A player's move was not legal.
    IllegalMove,
    /// A player crashed or did not answer.
    Crash,
}

impl Ending {
    /// All variants in order.
    pub const ALL: [Self; 5] = [Self::Rules, Self::Limit, Self::OutOfTime, Self::IllegalMove, Self::Crash];

    /// Description in a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Rules => "by the rules",
            Self::Limit => "by the limit of plies",
            Self::OutOfTime => "out of time",
            Self::IllegalMove => "illegal move",
            Self::Crash => "crash",
        }
    }
}

/// Fault of a player in a game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incident {
    /// Number of moves before it, including the opening.
    pub ply: usize,
    /// Index of the agent at fault.
    pub agent: usize,
    /// [`Ending::OutOfTime`], [`Ending::IllegalMove`] or [`Ending::Crash`].
    pub kind: Ending,
    /// Description of the fault.
    pub what: String,
}

impl TournamentRecord {
    /// The first game as Markdown.
    #[must_use]
    pub fn sample(&self) -> String {
        let Some(game) = self.games.first() else { return String::new() };
        let result = ["lost", "drawn", "won"][(game.result + 1) as usize];
        let [first, second] = game.agents.map(|agent| &self.header.agents[agent]);
        let (plies, moves) = (game.opening_plies, game.moves.join(" "));
        format!(
            "`{first}`, player 1, against `{second}`: {result}; {plies} plies of the opening, then theirs\n\n`{moves}`"
        )
    }
}

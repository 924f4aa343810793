//! What a match or tournament leaves behind: who played how, and every game, as they go to disk and to the report.

use serde::{Deserialize, Serialize};
use turnstone_env::Params;

use super::Sprt;

/// A match (two agents) or a tournament (more), whole or as far as it was played.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TournamentRecord {
    /// What was to be played.
    #[serde(flatten)]
    pub header: Header,
    /// What a reader has to know, one line each: fewer openings than asked for, an early stop.
    pub notes: Vec<String>,
    /// The games by number. Numbers `2i` and `2i + 1` are a pair: one opening, seats swapped. A tournament that was
    /// stopped in its midst holds the finished ones.
    pub games: Vec<GameRecord>,
}

/// What is to be played; with it and the same program and files, a tournament of agents without clocks repeats.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// Version of this form, [`Header::FORMAT`].
    pub turnstone_arena: u32,
    /// The game's name.
    pub game: String,
    /// The game's version.
    pub version: u32,
    /// Its parameters.
    pub params: Params,
    /// The agents' specs, by index. Two of them may be equal.
    pub agents: Vec<String>,
    /// For each agent a checksum of the network that it plays with, if it has one.
    pub networks: Vec<Option<u32>>,
    /// How it is played.
    pub settings: Settings,
    /// The openings, each as its moves separated by spaces, by number.
    pub openings: Vec<String>,
}

impl Header {
    /// The version that this program writes and reads.
    pub const FORMAT: u32 = 1;
}

/// How a tournament is played. The number of threads is none of these: it changes nothing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Who meets whom.
    pub format: Format,
    /// Games of each meeting, in pairs from one opening with seats swapped; even.
    pub games: usize,
    /// Seed of openings and random choices.
    pub seed: u64,
    /// Milliseconds that each agent has for all its moves of a game; none means no clocks.
    pub clock: Option<u64>,
    /// What comes of a player whose clock has run out.
    pub out_of_time: Penalty,
    /// What comes of a player that crashes, is silent or plays an illegal move.
    pub on_fault: Penalty,
    /// Whether games end as soon as an exact truth covers the position.
    pub adjudication: Adjudication,
    /// A sequential test that may end a match early.
    pub sprt: Option<Sprt>,
}

impl Settings {
    /// So many games of each meeting, without clocks, adjudication or a test; faults lose.
    #[must_use]
    pub fn plain(format: Format, games: usize, seed: u64) -> Self {
        Self {
            format,
            games: games.next_multiple_of(2),
            seed,
            clock: None,
            out_of_time: Penalty::Random,
            on_fault: Penalty::Lose,
            adjudication: Adjudication::None,
            sprt: None,
        }
    }
}

/// Who meets whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Everyone meets everyone once; of two agents, one match.
    RoundRobin,
    /// In each of so many rounds, agents of like score meet, the same two again only if it has to be.
    Swiss {
        /// Number of rounds.
        rounds: usize,
    },
    /// The first agent meets each of the others.
    Gauntlet,
}

/// What comes of a player at fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Penalty {
    /// He loses the game.
    Lose,
    /// Random legal moves are played for him: one for an illegal move, all the rest for the other faults.
    Random,
}

impl std::str::FromStr for Penalty {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "lose" => Ok(Self::Lose),
            "random" => Ok(Self::Random),
            _ => Err(format!("must be lose or random, not `{text}`")),
        }
    }
}

/// Whether games end before their end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjudication {
    /// Games are played out.
    None,
    /// A game ends with the value of the first position, after the opening, that the exact truth covers.
    Exact,
}

/// A game of a tournament.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRecord {
    /// Its number in the tournament, from 0.
    pub number: usize,
    /// The round, from 0; a round-robin has one.
    pub round: usize,
    /// Indices of the agents that played the first and the second side.
    pub agents: [usize; 2],
    /// Number of the opening.
    pub opening: usize,
    /// How many of `moves` are the opening's.
    pub opening_plies: usize,
    /// All moves as text, the opening's first.
    pub moves: Vec<String>,
    /// The result for the first side: 1, 0 or -1.
    pub result: i8,
    /// Why it ended.
    pub ending: Ending,
    /// What went wrong, in order; of a game that a fault has ended, the last says how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<Incident>,
}

/// Why a game ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// By a rule of the game.
    Rules,
    /// By the game's limit of plies, as a draw.
    Limit,
    /// An exact truth knew the value.
    Adjudicated,
    /// A clock ran out.
    OutOfTime,
    /// A move was not legal.
    IllegalMove,
    /// A player crashed or gave no answer.
    Crash,
}

impl Ending {
    /// All of them, in order.
    pub const ALL: [Self; 6] =
        [Self::Rules, Self::Limit, Self::Adjudicated, Self::OutOfTime, Self::IllegalMove, Self::Crash];

    /// A few words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Rules => "by the rules",
            Self::Limit => "by the limit of plies",
            Self::Adjudicated => "adjudicated",
            Self::OutOfTime => "out of time",
            Self::IllegalMove => "illegal move",
            Self::Crash => "crash",
        }
    }
}

/// Something that went wrong in a game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incident {
    /// Moves played before it, the opening's included.
    pub ply: usize,
    /// Index of the agent at fault.
    pub agent: usize,
    /// [`Ending::OutOfTime`], [`Ending::IllegalMove`] or [`Ending::Crash`].
    pub kind: Ending,
    /// What was said of it.
    pub what: String,
}

impl TournamentRecord {
    /// The first game in Markdown.
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

impl GameRecord {
    /// Points of an agent that played in it, in half points: 2 for a win, 1 for a draw.
    #[must_use]
    pub fn half_points(&self, agent: usize) -> u32 {
        let for_agent = if self.agents[0] == agent { self.result } else { -self.result };
        (for_agent + 1) as u32
    }
}

//! How a match or tournament is played, as the command line or a file says it.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use serde::Deserialize;

use turnstone_agents::{AgentSpec, parse_time};
use turnstone_arena::{Adjudication, Format, Ladder, OpeningFilter, OpeningSource, Penalty, Settings, Sprt};

/// Games against each rung of a ladder, where nothing is said.
const LADDER_GAMES: u32 = 100;

/// Every option, absent where it is not given.
#[derive(Args, Clone, Default, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Options {
    /// Games of each meeting, in pairs from the same opening with seats swapped [default: 200; with --sprt at most 10000]
    #[arg(long)]
    games: Option<u32>,
    /// Openings: a number or range of random plies, e.g. 2-6, or a book with a line of moves for each [default: 2-6]
    #[arg(long, value_name = "PLIES|FILE")]
    openings: Option<Openings>,
    /// Keep only openings that this agent finds open: exact (drawn), alphabeta:depth=8, az:<checkpoint>
    #[arg(long, value_name = "AGENT")]
    opening_filter: Option<AgentSpec>,
    /// Greatest score, for either side, of an opening that is kept: a heuristic's units, or the expected result in
    /// hundredths [default: 0 for exact, 50 for networks]
    #[arg(long, value_name = "VALUE")]
    opening_bound: Option<u32>,
    /// Seed of openings and random choices [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Who meets whom [default: round-robin]
    #[arg(long, value_enum)]
    format: Option<Pairings>,
    /// Rounds of a Swiss tournament [default: the logarithm of the number of agents]
    #[arg(long)]
    rounds: Option<usize>,
    /// Time that each agent has for all its moves of a game, e.g. 10s; without it there are no clocks
    #[arg(long, value_name = "TIME", value_parser = clock)]
    #[serde(deserialize_with = "clock_in_file")]
    clock: Option<Duration>,
    /// What comes of a player whose clock has run out: random legal moves, or the loss of the game [default: random]
    #[arg(long, value_name = "lose|random")]
    out_of_time: Option<Penalty>,
    /// What comes of an engine that crashes, is silent or plays an illegal move [default: lose]
    #[arg(long, value_name = "lose|random")]
    on_fault: Option<Penalty>,
    /// End games once the exact truth knows their value (see `turnstone solve`)
    #[arg(long, num_args = 0, default_missing_value = "true")]
    adjudicate: Option<bool>,
    /// Folder with the tables for it [default: tables]
    #[arg(long, value_name = "FOLDER")]
    tables: Option<PathBuf>,
    /// End a match early by a sequential test, e.g. elo0=0,elo1=10,alpha=0.05,beta=0.05
    #[arg(long, value_name = "BOUNDS")]
    sprt: Option<Sprt>,
}

/// Names of the formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Pairings {
    RoundRobin,
    Swiss,
    /// The first agent against each of the others
    Gauntlet,
}

/// Where openings come from.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Openings(OpeningSource);

impl FromStr for Openings {
    type Err = String;

    /// A number of plies, a range of them, or else a file.
    fn from_str(text: &str) -> Result<Self, String> {
        let (least, most) = text.split_once('-').unwrap_or((text, text));
        let numbers = [least, most].map(str::parse::<u16>);
        match numbers {
            [Ok(least), Ok(most)] if least <= most && most <= 1000 => Ok(Self(OpeningSource::Random([least, most]))),
            [Ok(_), Ok(_)] => Err("the range must rise, up to 1000".into()),
            _ if Path::new(text).is_file() => Ok(Self(OpeningSource::Book(text.into()))),
            _ => Err("expected a number of plies, a range such as 2-6, or an opening book, which is not there".into()),
        }
    }
}

impl TryFrom<String> for Openings {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

fn clock(text: &str) -> Result<Duration, String> {
    parse_time("the clock", text)
}

fn clock_in_file<'de, D: serde::Deserializer<'de>>(text: D) -> Result<Option<Duration>, D::Error> {
    clock(&String::deserialize(text)?).map(Some).map_err(serde::de::Error::custom)
}

impl Options {
    /// The names of all in a file.
    pub(super) fn keys() -> [&'static str; 13] {
        [
            "games",
            "openings",
            "opening_filter",
            "opening_bound",
            "seed",
            "format",
            "rounds",
            "clock",
            "out_of_time",
            "on_fault",
            "adjudicate",
            "tables",
            "sprt",
        ]
    }

    /// These, and where one is not given, the other's.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            games: self.games.or(other.games),
            openings: self.openings.or(other.openings),
            opening_filter: self.opening_filter.or(other.opening_filter),
            opening_bound: self.opening_bound.or(other.opening_bound),
            seed: self.seed.or(other.seed),
            format: self.format.or(other.format),
            rounds: self.rounds.or(other.rounds),
            clock: self.clock.or(other.clock),
            out_of_time: self.out_of_time.or(other.out_of_time),
            on_fault: self.on_fault.or(other.on_fault),
            adjudicate: self.adjudicate.or(other.adjudicate),
            tables: self.tables.or(other.tables),
            sprt: self.sprt.or(other.sprt),
        }
    }

    /// What a run's matches are played with.
    pub(super) fn of_run(config: &turnstone_trainer::config::Config) -> Self {
        Self {
            games: u32::try_from(config.arena.final_games).ok(),
            openings: Some(Openings(OpeningSource::Random(config.arena.opening_plies))),
            seed: Some(config.seed),
            ..Self::default()
        }
    }

    /// What a ladder was made with.
    pub(super) fn of_ladder(ladder: &Ladder) -> Self {
        Self {
            games: Some(LADDER_GAMES),
            openings: Some(Openings(OpeningSource::Random(ladder.openings))),
            ..Self::default()
        }
    }

    /// The settings of a tournament of so many agents.
    ///
    /// # Errors
    /// A value is out of range, or does not go with another.
    pub(super) fn settings(&self, agents: usize) -> Result<Settings> {
        let games = self.games.unwrap_or(if self.sprt.is_some() { 10_000 } else { 200 });
        ensure!((1..=1_000_000).contains(&games), "games is {games}, but must be from 1 to 1000000");
        ensure!(self.format == Some(Pairings::Swiss) || self.rounds.is_none(), "only a Swiss tournament has rounds");
        let format = match self.format.unwrap_or(Pairings::RoundRobin) {
            Pairings::RoundRobin => Format::RoundRobin,
            Pairings::Gauntlet => Format::Gauntlet,
            Pairings::Swiss => {
                let rounds = self.rounds.unwrap_or(agents.next_power_of_two().trailing_zeros().max(1) as usize);
                ensure!((1..=1000).contains(&rounds), "rounds is {rounds}, but must be from 1 to 1000");
                Format::Swiss { rounds }
            }
        };
        let adjudicated = self.adjudicate == Some(true);
        Ok(Settings {
            clock: self.clock.map(|clock| clock.as_millis() as u64),
            out_of_time: self.out_of_time.unwrap_or(Penalty::Random),
            on_fault: self.on_fault.unwrap_or(Penalty::Lose),
            adjudication: if adjudicated { Adjudication::Exact } else { Adjudication::None },
            sprt: self.sprt,
            ..Settings::plain(format, games as usize, self.seed.unwrap_or(0))
        })
    }

    /// Where openings come from.
    pub(super) fn openings(&self) -> OpeningSource {
        self.openings.clone().map_or(OpeningSource::Random([2, 6]), |openings| openings.0)
    }

    /// Which openings are kept; all if `None`.
    ///
    /// # Errors
    /// The filter needs a bound.
    pub(super) fn filter(&self) -> Result<Option<OpeningFilter>> {
        let Some(reference) = self.opening_filter.clone() else {
            ensure!(self.opening_bound.is_none(), "an opening bound needs an opening filter");
            return Ok(None);
        };
        let default = match &reference {
            AgentSpec::Exact(_) => Some(0),
            AgentSpec::Az { .. } => Some(50),
            _ => None,
        };
        let bound = self.opening_bound.or(default);
        let bound = bound.with_context(|| format!("give --opening-bound in the units of {reference}"))?;
        Ok(Some(OpeningFilter { reference, bound }))
    }

    /// The folder with tables.
    pub(super) fn tables(&self) -> PathBuf {
        self.tables.clone().unwrap_or_else(|| "tables".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_options() {
        assert_eq!("3".parse::<Openings>().map(|openings| openings.0), Ok(OpeningSource::Random([3, 3])));
        assert!("6-2".parse::<Openings>().expect_err("it falls").contains("must rise"));
        assert!("no/book.txt".parse::<Openings>().expect_err("no file").contains("not there"));
        let fault = |options: Options| format!("{:#}", options.settings(4).expect_err("a fault"));
        assert!(fault(Options { rounds: Some(3), ..Options::default() }).contains("only a Swiss"));
        assert!(fault(Options { games: Some(0), ..Options::default() }).contains("games is 0"));
        let swiss = Options { format: Some(Pairings::Swiss), ..Options::default() };
        assert_eq!(swiss.settings(5).expect("valid").format, Format::Swiss { rounds: 3 });
        let filtered = |spec: &str| Options { opening_filter: spec.parse().ok(), ..Options::default() }.filter();
        assert_eq!(filtered("exact").expect("valid").map(|filter| filter.bound), Some(0));
        assert!(filtered("alphabeta").expect_err("no bound").to_string().contains("--opening-bound"));
    }
}

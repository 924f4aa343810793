//! Options of a match or tournament, from the command line or a file.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use turnstone_base::times::parse_time;

use turnstone_agents::AgentSpec;
use turnstone_arena::{Adjudication, Format, Ladder, OpeningFilter, OpeningSource, Penalty, Settings, Sprt};

/// Default number of games against each rung of a ladder.
const LADDER_GAMES: u32 = 100;

/// The options; `None` where not given.
#[derive(Args, Clone, Default, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Options {
    /// Games of each meeting, an even number: pairs with equal openings and seats swapped [default: 200; with --sprt at most 10000]
    #[arg(long)]
    games: Option<u32>,
    /// Openings: a number or range of random plies, e.g. 2-6, or a book with a line of moves for each [default: 2-6]
    #[arg(long, value_name = "PLIES|FILE")]
    openings: Option<Openings>,
    /// Keep only openings that this agent scores as balanced: exact (drawn), alphabeta:depth=8, az:<checkpoint>
    #[arg(long, value_name = "AGENT")]
    opening_filter: Option<AgentSpec>,
    /// Greatest score of either side in an opening that is kept, in the heuristic's units or as the expected result in
    /// hundredths [default: 0 for exact, 50 for networks]
    #[arg(long, value_name = "VALUE")]
    opening_bound: Option<u32>,
    /// Seed of openings and random choices [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Pairings [default: round-robin]
    #[arg(long, value_enum)]
    format: Option<Pairings>,
    /// Rounds of a Swiss tournament [default: log2 of the number of agents, rounded up]
    #[arg(long)]
    rounds: Option<usize>,
    /// Time of each agent for all its moves of a game, e.g. 10s [default: no clocks]
    #[arg(long, value_name = "TIME", value_parser = clock)]
    #[serde(deserialize_with = "clock_in_file")]
    clock: Option<Duration>,
    /// Penalty for a player whose clock has run out: random legal moves, or loss of the game [default: random]
    #[arg(long, value_name = "lose|random")]
    out_of_time: Option<Penalty>,
    /// Penalty for an engine that crashes, does not answer or plays an illegal move [default: lose]
    #[arg(long, value_name = "lose|random")]
    on_fault: Option<Penalty>,
    /// End games as soon as their exact value is known (see `turnstone solve`)
    #[arg(long, num_args = 0, default_missing_value = "true")]
    adjudicate: Option<bool>,
    /// Folder with tables of exact values, for --adjudicate [default: tables]
    #[arg(long, value_name = "FOLDER")]
    tables: Option<PathBuf>,
    /// Stop a match early by a sequential test, e.g. elo0=0,elo1=10,alpha=0.05,beta=0.05
    #[arg(long, value_name = "BOUNDS")]
    sprt: Option<Sprt>,
}

/// Format of a tournament.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Pairings {
    RoundRobin,
    Swiss,
    /// The first agent against each of the others
    Gauntlet,
}

/// Source of openings.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Openings(OpeningSource);

impl FromStr for Openings {
    type Err = String;

    /// Parses a number of plies, a range of them, or the path of a file.
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
    /// Names of the options in a file.
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

    /// Returns these options, completed by `other` where they are not given.
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

    /// Returns the options of a run's matches.
    pub(super) fn of_run(config: &turnstone_trainer::config::Config) -> Self {
        Self {
            games: u32::try_from(config.arena.final_games).ok(),
            openings: Some(Openings(OpeningSource::Random(config.arena.opening_plies))),
            seed: Some(config.seed),
            ..Self::default()
        }
    }

    /// Returns the options for rating on a ladder.
    pub(super) fn of_ladder(ladder: &Ladder) -> Self {
        Self {
            games: Some(LADDER_GAMES),
            openings: Some(Openings(OpeningSource::Random(ladder.openings))),
            ..Self::default()
        }
    }

    /// Returns the settings of a tournament of `agents` agents.
    ///
    /// # Errors
    /// A value is out of range or conflicts with another.
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

    /// What to say if the settings have more games than were asked for.
    pub(super) fn odd_games(&self, played: usize) -> Option<String> {
        let asked = self.games.filter(|&games| (games as usize) < played)?;
        Some(format!("each opening is played from both sides: {played} games of each meeting in place of {asked}"))
    }

    /// Returns the source of openings.
    pub(super) fn openings(&self) -> OpeningSource {
        self.openings.clone().map_or(OpeningSource::Random([2, 6]), |openings| openings.0)
    }

    /// Returns the filter of openings; `None` keeps all.
    ///
    /// # Errors
    /// A bound is given without a filter, or the filter has no default bound and none is given.
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

    /// Returns the folder with tables.
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
        let asked = |games| {
            let options = Options { games: Some(games), ..Options::default() };
            options.odd_games(options.settings(2).expect("valid").games)
        };
        assert_eq!((asked(4), Options::default().odd_games(200)), (None, None));
        assert!(asked(3).expect("a note").ends_with("4 games of each meeting in place of 3"));
        let swiss = Options { format: Some(Pairings::Swiss), ..Options::default() };
        assert_eq!(swiss.settings(5).expect("valid").format, Format::Swiss { rounds: 3 });
        let filtered = |spec: &str| Options { opening_filter: spec.parse().ok(), ..Options::default() }.filter();
        assert_eq!(filtered("exact").expect("valid").map(|filter| filter.bound), Some(0));
        assert!(filtered("alphabeta").expect_err("no bound").to_string().contains("--opening-bound"));
    }
}

//! Options of a match, declared once for the command line, tournament files, Python and runs.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::de::value::Error as WordError;
use serde::de::{DeserializeOwned, IntoDeserializer};
use turnstone_agents::AgentSpec;
use turnstone_base::times::parse_time;
use turnstone_env::nearest;
use turnstone_statistics::Sprt;

use super::openings::{OpeningFilter, OpeningSource};
use super::record::{Penalty, TournamentFormat, TournamentSettings};

/// An option: a key of a tournament's file, a keyword in Python and, with `-` for `_`, an option of the command.
#[derive(Clone, Copy, Debug)]
pub struct MatchOption {
    /// Its name.
    pub name: &'static str,
    /// What it is and its default, as one line.
    pub help: &'static str,
    /// Its values.
    pub values: OptionValues,
    set: fn(&mut MatchOptions, &str) -> Result<(), String>,
}

/// Values of a [`MatchOption`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionValues {
    /// One of these words.
    Words(&'static [&'static str]),
    /// Text of this kind.
    Text(&'static str),
}

use OptionValues::{Text, Words};

/// Declares the options: help, name, type, parser of its text, values.
macro_rules! match_options {
    ($($(#[doc = $help:literal])+ $name:ident: $kind:ty = $parse:expr, $values:expr;)+) => {
        /// Options of a match or tournament; `None` where not given.
        #[derive(Clone, Default, PartialEq, Debug)]
        pub struct MatchOptions {
            $($(#[doc = $help])+ pub $name: Option<$kind>,)+
        }

        /// The options in the order of their documentation.
        pub const MATCH_OPTIONS: [MatchOption; [$(stringify!($name)),+].len()] = [$(MatchOption {
            name: stringify!($name),
            help: concat!($($help),+),
            values: $values,
            set: |options, text| {
                let parse: fn(&str) -> Result<$kind, String> = $parse;
                parse(text).map(|value| options.$name = Some(value))
            },
        }),+];

        impl MatchOptions {
            /// Returns these options, completed by `other` where they are not given.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                Self { $($name: self.$name.or(other.$name),)+ }
            }
        }
    };
}

match_options! {
    /// Games of each meeting, an even number: pairs with equal openings and seats swapped [default: 200; with a sequential
    /// test at most 10000]
    games: usize = |text| whole("games", text, 1..=1_000_000), Text("GAMES");
    /// Openings: a number or range of random plies, e.g. 2-6, or a book with a line of moves for each [default: 2-6]
    openings: OpeningSource = read, Text("PLIES|FILE");
    /// Keep only openings that this agent scores as balanced: exact (drawn), alphabeta:depth=8, az:CHECKPOINT
    opening_filter: AgentSpec = read, Text("AGENT");
    /// Greatest score of either side in an opening that is kept, in the heuristic's units or as the expected result in
    /// hundredths [default: 0 for exact, 50 for networks]
    opening_bound: u32 = |text| whole("opening_bound", text, 0..=u32::MAX.into()), Text("VALUE");
    /// Seed of openings and random choices [default: 0]
    seed: u64 = |text| whole("seed", text, 0..=u64::MAX), Text("SEED");
    /// Pairings; in a gauntlet the first agent meets each of the others [default: round-robin]
    format: Pairings = |text| word("format", text), Words(&["round-robin", "gauntlet"]);
    /// Time of each agent for all its moves of a game, e.g. 10s [default: no clocks]
    clock: Duration = |text| parse_time("the clock", text), Text("TIME");
    /// Penalty for a player whose clock has run out: random legal moves, or loss of the game [default: random]
    out_of_time: Penalty = |text| word("out_of_time", text), Words(&["lose", "random"]);
    /// Stop a match early by a sequential test, e.g. elo0=0,elo1=10,alpha=0.05,beta=0.05
    sprt: Sprt = read, Text("BOUNDS");
}

/// The pairings of a [`TournamentFormat`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairings {
    /// Every two agents meet.
    #[default]
    RoundRobin,
    /// The first agent meets each of the others.
    Gauntlet,
}

fn read<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|fault: T::Err| fault.to_string())
}

fn whole<T: TryFrom<u64>>(name: &str, text: &str, range: RangeInclusive<u64>) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| range.contains(number)).and_then(|number| T::try_from(number).ok());
    let (least, most) = range.into_inner();
    number.ok_or_else(|| format!("{name} is {text}, but must be a whole number from {least} to {most}"))
}

fn word<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, String> {
    T::deserialize(text.into_deserializer()).map_err(|fault: WordError| format!("{name}: {fault}"))
}

impl MatchOption {
    /// Sets it from its text.
    ///
    /// # Errors
    /// One line that names the fault.
    pub fn set(&self, options: &mut MatchOptions, text: &str) -> Result<(), String> {
        (self.set)(options, text)
    }
}

impl MatchOptions {
    /// Sets an option from its text.
    ///
    /// # Errors
    /// One line: there is no option with this name, or the text is not one of its values.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let option = MATCH_OPTIONS.iter().find(|option| option.name == name).ok_or_else(|| unknown(name))?;
        option.set(self, text)
    }

    /// Returns the options of the table `[arena]` in a tournament's file.
    ///
    /// # Errors
    /// One line that names the key and the fault.
    pub fn of_table(table: &toml::Table) -> Result<Self, String> {
        let mut options = Self::default();
        for (key, value) in table {
            let text = match value {
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(_) => value.to_string(),
                _ => return Err(format!("[arena]: {key} cannot be a {}", value.type_str())),
            };
            options.set(key, &text)?;
        }
        Ok(options)
    }

    /// Returns the settings of a tournament.
    pub(super) fn settings(&self) -> TournamentSettings {
        let games = self.games.unwrap_or(if self.sprt.is_some() { 10_000 } else { 200 });
        let format = match self.format.unwrap_or_default() {
            Pairings::RoundRobin => TournamentFormat::RoundRobin,
            Pairings::Gauntlet => TournamentFormat::Gauntlet,
        };
        TournamentSettings {
            clock: self.clock.map(|clock| clock.as_millis() as u64),
            out_of_time: self.out_of_time.unwrap_or(Penalty::Random),
            sprt: self.sprt,
            ..TournamentSettings::plain(format, games, self.seed.unwrap_or(0))
        }
    }

    /// Returns a note if the settings have more games than were asked for.
    pub(super) fn odd_games(&self, played: usize) -> Option<String> {
        let asked = self.games.filter(|&games| games < played)?;
        Some(format!("each opening is played from both sides: {played} games of each meeting in place of {asked}"))
    }

    /// Returns the source of the openings.
    pub(super) fn openings(&self) -> OpeningSource {
        self.openings.clone().unwrap_or(OpeningSource::Random([2, 6]))
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
        let bound = self.opening_bound.or(reference.traits().even);
        let bound = bound.with_context(|| format!("give --opening-bound in the units of {reference}"))?;
        Ok(Some(OpeningFilter { reference, bound }))
    }
}

fn unknown(key: &str) -> String {
    let names = MATCH_OPTIONS.map(|option| option.name);
    match nearest(key, names) {
        Some(near) => format!("unknown key `arena.{key}` (did you mean `arena.{near}`?)"),
        None => format!("unknown key `arena.{key}`; known are agents, {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, text: &str) -> Result<MatchOptions, String> {
        let mut options = MatchOptions::default();
        options.set(name, text).map(|()| options)
    }

    #[test]
    fn faults_of_options() {
        assert_eq!(with("openings", "3").expect("plies").openings(), OpeningSource::Random([3, 3]));
        for (name, text, fault) in [
            ("openings", "6-2", "must rise"),
            ("openings", "no/book.txt", "no such file"),
            ("games", "0", "games is 0, but must be a whole number from 1 to 1000000"),
            ("games", "many", "games is many, but must be"),
            ("opening_bound", "4294967296", "from 0 to 4294967295"),
            ("format", "cup", "format: unknown variant `cup`, expected `round-robin` or `gauntlet`"),
            ("out_of_time", "win", "out_of_time: unknown variant `win`, expected `lose` or `random`"),
            ("clock", "2", "the clock must be a time"),
            ("rounds", "2", "unknown key `arena.rounds`"),
            ("gams", "2", "unknown key `arena.gams` (did you mean `arena.games`?)"),
        ] {
            let found = with(name, text).expect_err("a fault");
            assert!(found.contains(fault) && !found.contains('\n'), "{name}={text}: {found}");
        }
    }

    #[test]
    fn every_word_of_an_option_is_one_of_its_values() {
        for option in &MATCH_OPTIONS {
            let words: &[&str] = match option.values {
                Words(words) => words,
                Text(_) => &[],
            };
            for word in words {
                option.set(&mut MatchOptions::default(), word).expect("one of its values");
            }
        }
    }

    #[test]
    fn defaults_depend_on_the_other_options() {
        let odd = |games: &str| {
            let options = with("games", games).expect("in range");
            options.odd_games(options.settings().games)
        };
        assert_eq!((odd("4"), MatchOptions::default().odd_games(200)), (None, None));
        assert!(odd("3").expect("a note").ends_with("4 games of each meeting in place of 3"));
        assert_eq!(MatchOptions::default().settings().games, 200);
        assert_eq!(with("sprt", "0,10").expect("a test").settings().games, 10_000);
        let filter = |spec: &str| with("opening_filter", spec).expect("an agent").filter();
        assert_eq!(filter("exact").expect("a default").map(|filter| filter.bound), Some(0));
        assert!(filter("alphabeta").expect_err("no bound").to_string().contains("--opening-bound"));
        let [one, other] = [("seed", "1"), ("seed", "2")].map(|(name, text)| with(name, text).expect("a seed"));
        let both = one.or(MatchOptions { games: Some(8), ..other });
        assert_eq!((both.seed, both.games), (Some(1), Some(8)));
    }
}

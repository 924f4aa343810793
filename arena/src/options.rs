//! Options of a match: of the command line, tournament files, Python and runs.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use turnstone_agents::AgentSpec;
use turnstone_base::settings;
use turnstone_base::settings::Parsed;
use turnstone_statistics::Sprt;

use super::openings::{OpeningFilter, OpeningSource};
use super::record::{Penalty, TournamentFormat, TournamentSettings};

settings! {
    /// Options of a match or tournament; `None` where not given.
    #[derive(Clone, PartialEq, Debug)]
    pub struct MatchOptions {
        /// Games of each meeting, an even number: pairs with equal openings and seats swapped [default: 200; with a sequential
        /// test at most 10000]
        pub games: Option<usize> = None, 1..=1_000_000;
        /// Openings: a number or range of random plies, e.g. 2-6, or a book with a line of moves for each [default: 2-6]
        pub openings: Option<OpeningSource>;
        /// Keep only openings that this agent scores as balanced: exact (drawn), alphabeta:depth=8, az:CHECKPOINT
        pub opening_filter: Option<AgentSpec>;
        /// Greatest score of either side in an opening that is kept, in the heuristic's units or as the expected result in
        /// hundredths [default: 0 for exact, 50 for networks]
        pub opening_bound: Option<u32> = None, 0..=u32::MAX;
        /// Seed of openings and random choices [default: 0]
        pub seed: Option<u64> = None, 0..;
        /// Pairings; in a gauntlet the first agent meets each of the others [default: round-robin]
        pub format: Option<TournamentFormat>;
        /// Time of each agent for all its moves of a game, e.g. 10s [default: no clocks]
        pub clock: Option<Duration>;
        /// Penalty for a player whose clock has run out: random legal moves, or loss of the game [default: random]
        pub out_of_time: Option<Penalty>;
        /// Stop a match early by a sequential test, e.g. elo0=0,elo1=10,alpha=0.05,beta=0.05
        pub sprt: Option<Parsed<Sprt>>;
    }
}

impl MatchOptions {
    /// Returns the settings of a tournament.
    pub(super) fn tournament(&self) -> TournamentSettings {
        let games = self.games.unwrap_or(if self.sprt.is_some() { 10_000 } else { 200 });
        TournamentSettings {
            clock: self.clock.map(|clock| clock.as_millis() as u64),
            out_of_time: self.out_of_time.unwrap_or_default(),
            sprt: self.sprt.map(|sprt| sprt.0),
            ..TournamentSettings::plain(self.format.unwrap_or_default(), games, self.seed.unwrap_or(0))
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

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_base::settings::{Given, Settings};

    fn with(name: &str, text: &str) -> Result<MatchOptions, String> {
        let mut options = MatchOptions::default();
        Ok(options.set(name, &Given::Word(text.to_owned())).map(|()| options)?)
    }

    #[test]
    fn faults_of_options() {
        assert_eq!(with("openings", "3").expect("plies").openings(), OpeningSource::Random([3, 3]));
        for (name, text, fault) in [
            ("openings", "6-2", "openings: the range must rise, up to 1000"),
            ("openings", "no/book.txt", "no such file"),
            ("games", "0", "games is 0, but must be a whole number from 1 to 1000000"),
            ("games", "many", "games is many, but must be"),
            ("opening_bound", "4294967296", "from 0 to 4294967295"),
            ("format", "cup", "format is cup, but must be round-robin or gauntlet"),
            ("out_of_time", "win", "out_of_time is win, but must be random or lose"),
            ("clock", "2", "clock is 2, but must be a time such as 500ms"),
            ("sprt", "10,0", "sprt: SPRT: elo0 = 10 must be below elo1 = 0"),
            ("opening_filter", "rando", "opening_filter: agent `rando`: unknown agent (did you mean `random`?)"),
            ("rounds", "2", "unknown key `rounds`; known are games, openings, "),
            ("gams", "2", "unknown key `gams` (did you mean `games`?)"),
        ] {
            let found = with(name, text).expect_err("a fault");
            assert!(found.contains(fault) && !found.contains('\n'), "{name}={text}: {found}");
        }
    }

    #[test]
    fn defaults_depend_on_the_other_options() {
        let odd = |games: &str| {
            let options = with("games", games).expect("in range");
            options.odd_games(options.tournament().games)
        };
        assert_eq!((odd("4"), MatchOptions::default().odd_games(200)), (None, None));
        assert!(odd("3").expect("a note").ends_with("4 games of each meeting in place of 3"));
        assert_eq!(MatchOptions::default().tournament().games, 200);
        assert_eq!(with("sprt", "0,10").expect("a test").tournament().games, 10_000);
        let filter = |spec: &str| with("opening_filter", spec).expect("an agent").filter();
        assert_eq!(filter("exact").expect("a default").map(|filter| filter.bound), Some(0));
        assert!(filter("alphabeta").expect_err("no bound").to_string().contains("--opening-bound"));
        let [one, other] = [("seed", "1"), ("seed", "2")].map(|(name, text)| with(name, text).expect("a seed"));
        let both = one.or(&MatchOptions { games: Some(8), ..other });
        assert_eq!((both.seed, both.games), (Some(1), Some(8)));
    }
}

//! Matches and tournaments: openings played from both seats, and what the results mean.
//!
//! A [`Tournament`] of [`Agent`]s plays the games that its [`Settings`] plan from its openings, several at a time, and
//! writes them to a [`Journal`] if it is given one. What it leaves is a [`TournamentRecord`]; the statistics are made
//! of it.

mod statistics;
mod record;
mod result;
mod openings;
mod schedule;
mod referee;
mod journal;
mod tournament;
mod summary;
mod ladder;
pub mod report;

pub use journal::Journal;
pub use ladder::{Ladder, LadderRating, Rung, read_ladder};
pub use openings::{Opening, OpeningFilter, OpeningSource, openings};
pub use record::{Adjudication, Ending, Format, GameRecord, Header, Incident, Penalty, Settings, TournamentRecord};
pub use result::{Record, SeatRecord};
pub use schedule::openings_needed;
pub use statistics::{
    Decision, Estimate, Pairing, Pentanomial, Ratings, Sprt, SprtError, SprtState, Z95, elo_of, score_of,
};
pub use summary::{Meeting, Standing, Summary};
pub use tournament::{Running, Tournament};

use std::path::PathBuf;

use anyhow::Result;

use crate::agents::{Agent, Playable};

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

/// Plays a plain tournament from random openings. `None` if `running.stop` was set before the end.
///
/// # Errors
/// An agent cannot play.
pub fn play<G: Playable>(
    game: &G,
    agents: Vec<&Agent>,
    settings: Settings,
    opening_plies: [u16; 2],
    running: &Running<'_>,
) -> Result<Option<TournamentRecord>> {
    let (source, seed) = (OpeningSource::Random(opening_plies), settings.seed);
    let openings = openings(game, &source, None, openings_needed(&settings), seed, running.stop)?;
    if openings.is_empty() {
        return Ok(None); // stopped
    }
    Tournament::new(game, agents, settings, openings, PathBuf::new())?.play(None, Vec::new(), running)
}

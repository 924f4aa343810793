//! Matches, tournaments, ladders and grading for [`turnstone_agents`]: openings played from both seats, and what the
//! results mean.
//!
//! A [`Tournament`] of agents plays the games that its [`Settings`] plan from its openings, several at a time, and writes
//! them to a [`Journal`] if it is given one. It leaves a [`TournamentRecord`], from which the statistics are computed.
//! [`grading`] compares an agent's moves with exact values, [`page`] holds what HTML pages share.

mod record;
mod result;
mod openings;
mod schedule;
mod referee;
mod journal;
mod tournament;
mod summary;
mod ladder;
pub mod page;
pub mod report;
pub mod grading;

pub use journal::Journal;
pub use ladder::{Ladder, LadderRating, Rung, read_ladder};
pub use openings::{Opening, OpeningFilter, OpeningSource, openings};
pub use record::{Adjudication, Ending, Format, GameRecord, Header, Incident, Penalty, Settings, TournamentRecord};
pub use result::{Record, SeatRecord};
pub use schedule::openings_needed;
pub use summary::{Meeting, Standing, Summary};
pub use tournament::{Running, Tournament, play};
pub use turnstone_statistics::{
    Decision, MatchScore, Pairing, Pentanomial, Ratings, Sprt, SprtError, SprtState, Z95, elo_of, score_of,
};

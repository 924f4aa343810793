//! Matches, tournaments, ladders and grading for [`turnstone_agents`], with openings played from both seats and a
//! statistical evaluation of the results.
//!
//! A [`Tournament`] plays the games planned by its [`Settings`] from its openings on several threads, and records them
//! in a [`Journal`] if it is given one. The result is a [`TournamentRecord`], which a [`Summary`] evaluates.
//! [`grading`] compares an agent's moves with exact values, and [`page`] contains the common parts of HTML pages.

mod record;
mod result;
mod openings;
mod schedule;
mod remote;
mod referee;
mod side_by_side;
mod journal;
mod tournament;
mod summary;
mod ladder;
pub mod page;
pub mod report;
pub mod grading;

pub use journal::{Journal, journal_games};
pub use ladder::{Ladder, LadderRating, Rung, read_ladder};
pub use openings::{Opening, OpeningFilter, OpeningSource, openings};
pub use record::{Adjudication, Ending, Format, GameRecord, Header, Incident, Penalty, Settings, TournamentRecord};
pub use remote::{Remote, RemoteAnswer, RemotePositions, RemoteRound, check_portable, is_portable};
pub use result::{Record, SeatRecord};
pub use schedule::{Plan, openings_needed};
pub use summary::{Meeting, Standing, Summary};
pub use tournament::{IdleTime, Running, Tournament, play};
pub use turnstone_statistics::{
    Decision, MatchScore, Pairing, Pentanomial, Ratings, Sprt, SprtError, SprtState, Z95, elo_of, score_of,
};

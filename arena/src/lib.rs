//! Matches, tournaments, ladders and grading for [`turnstone_agents`], with openings played from both seats and a
//! statistical evaluation of the results.
//!
//! A [`Match`] has [`MatchOptions`] and draws openings by them. Its [`Tournament`] plays the games on several threads, with
//! a journal in the match's folder if it has one. The result is a [`TournamentRecord`] with its [`Summary`].
//! [`grading`] compares an agent's moves with exact values, [`review`] the moves of a game, [`certifying`] finds the worst
//! result that an agent can come to, and [`page`] contains the common parts of HTML pages.

mod record;
mod result;
mod short_names;
mod watching;
mod openings;
mod options;
mod schedule;
mod remote;
mod referee;
mod asking;
mod certificates;
mod concurrent_games;
mod journal;
mod tournament;
mod saved_games;
mod summary;
mod ladder;
pub mod page;
pub mod review;
mod report;
mod matches;
pub mod grading;
pub mod certifying;

pub use journal::Journal;
pub use ladder::{Ladder, LadderRating, Rung, in_one_line, line_at, read_ladder};
pub use matches::{Match, MatchFolder, MatchResult, RatingScale};
pub use openings::OpeningSource;
pub use options::MatchOptions;
pub use record::{
    Ending, GameRecord, Incident, Penalty, TournamentFormat, TournamentHeader, TournamentRecord, TournamentSettings,
};
pub use remote::{
    Remote, RemoteAnswer, RemotePositions, RemoteRound, RunStatus, WorkerStatus, check_portable, is_portable,
};
pub use result::{BySeat, Tally};
pub use saved_games::{LostGame, PlayedGame, Replay, SavedGame};
pub use schedule::PlannedGame;
pub use summary::{AgentResult, Meeting, Summary};
pub use tournament::{IdleTime, Running, Tournament};
pub use turnstone_statistics::{
    Decision, Estimate, MatchScore, Pairing, Pentanomial, Ratings, Sprt, SprtError, SprtState, Z95, elo_of, score_of,
};
pub use watching::{Effort, Efforts, Standings};

//! Metrics of an iteration: one line for people, one JSON object for programs, scalars for TensorBoard.

use std::time::Duration;

use serde::Serialize;
use turnstone_models::StepReport;
use turnstone_search::CacheStats;

use crate::progress::duration;
use crate::tensorboard::EventLog;
use turnstone_arena::grading::Grade;
use turnstone_arena::{LadderRating, MatchScore, Meeting, SeatRecord, TournamentRecord};

/// Metrics of one iteration. All but `timing` are identical when a run is repeated.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Metrics {
    /// The iteration, from 1.
    pub iteration: u64,
    /// Learner steps so far.
    pub step: u64,
    /// Self-play games so far.
    pub games: u64,
    /// Self-play positions so far.
    pub positions: u64,
    /// Positions in the replay window.
    pub window: usize,
    /// Mean length of this iteration's games in plies, openings included.
    pub game_length: f64,
    /// Shares of this iteration's games won by player 1, drawn, won by player 2.
    pub outcome_shares: [f64; 3],
    /// Learning rate at the end of the iteration.
    pub learning_rate: f64,
    /// Means over the iteration's learner steps; absent if there were none.
    pub losses: Option<StepReport>,
    /// Matches played after the iteration.
    pub arena: Vec<ArenaMetrics>,
    /// The match against the previous best checkpoint, if one was played.
    pub previous_best: Option<ArenaMetrics>,
    /// Rating on the game's ladder, if it was due.
    pub ladder: Option<LadderRating>,
    /// Grade against exact values after the iteration, if it was due and the game comes with exact values.
    pub grade: Option<Grade>,
    /// Durations and rates.
    pub timing: Timing,
}

/// The result of a match against one opponent.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ArenaMetrics {
    /// The opponent's spec.
    pub opponent: String,
    /// The network's record in both seats.
    pub by_seat: SeatRecord,
    /// Its score, 0..=1.
    pub score: f64,
    /// 95 % interval of the score.
    pub score_interval: [f64; 2],
    /// Elo difference; `null` if it is infinite.
    pub elo: f64,
    /// 95 % interval of the Elo difference.
    pub elo_interval: [f64; 2],
    /// Number of distinct games.
    pub distinct_games: usize,
}

impl ArenaMetrics {
    /// Returns the metrics of a match.
    #[must_use]
    pub fn of_match(record: &TournamentRecord) -> Self {
        Self::new(record.header.agents[1].clone(), &Meeting::of_match(record))
    }

    /// Returns the metrics of a match against `opponent`.
    #[must_use]
    pub fn new(opponent: String, result: &Meeting) -> Self {
        let Meeting { by_seat, estimate, distinct_games, .. } = *result;
        let MatchScore { score, score_interval, elo, elo_interval, .. } = estimate;
        Self { opponent, by_seat, score, score_interval, elo, elo_interval, distinct_games }
    }
}

/// Durations and rates of an iteration.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Timing {
    /// Seconds of self-play.
    pub self_play_seconds: f64,
    /// Seconds of learning.
    pub learn_seconds: f64,
    /// Seconds of the whole iteration.
    pub seconds: f64,
    /// Positions searched per second of self-play.
    pub positions_per_second: f64,
    /// Positions evaluated by the network per second of self-play.
    pub evaluations_per_second: f64,
    /// Mean number of positions per evaluator batch.
    pub mean_batch: f64,
}

impl Timing {
    /// Computes the rates from the durations, the number of positions searched, and self-play's cache statistics.
    #[must_use]
    pub fn new(self_play: Duration, learn: Duration, whole: Duration, positions: u64, cache: &CacheStats) -> Self {
        let seconds = self_play.as_secs_f64();
        Self {
            self_play_seconds: seconds,
            learn_seconds: learn.as_secs_f64(),
            seconds: whole.as_secs_f64(),
            positions_per_second: positions as f64 / seconds,
            evaluations_per_second: cache.evaluations() as f64 / seconds,
            mean_batch: cache.mean_batch(),
        }
    }
}

impl Metrics {
    /// Returns the score by which the best checkpoint is chosen: the score on the ladder if it was rated, else the mean
    /// score over the opponents of this iteration's matches, if there were any.
    #[must_use]
    pub fn mean_score(&self) -> Option<f64> {
        if let Some(ladder) = &self.ladder {
            return Some(ladder.score);
        }
        let scores = self.arena.iter().map(|result| result.score);
        (!self.arena.is_empty()).then(|| scores.sum::<f64>() / self.arena.len() as f64)
    }

    /// What the parts of [`Metrics::line`] mean, for the beginning of a log.
    pub const LEGEND: &str = "each line: iteration/all, learner steps so far, loss of the policy (p) and of the value (v), \
                              mean plies of a game, positions of self-play per second, time left";

    /// Formats the iteration as one line, with the estimated time for the rest of the run.
    #[must_use]
    pub fn line(&self, iterations: u64, left: Duration) -> String {
        let losses = match &self.losses {
            Some(losses) => format!("loss p {:.3} v {:.3}", losses.policy_loss, losses.value_loss),
            None => "no step yet".into(),
        };
        format!(
            "{:>4}/{iterations} step {} {losses} plies {:.0} {:.0} pos/s, {} left",
            self.iteration,
            self.step,
            self.game_length,
            self.timing.positions_per_second,
            duration(left),
        )
    }

    /// Writes the metrics as TensorBoard scalars over the learner's steps.
    pub fn report(&self, events: &mut EventLog) {
        let mut scalar = |tag: &str, value: f64| events.scalar(tag, value, self.step);
        if let Some(losses) = &self.losses {
            scalar("loss/policy", losses.policy_loss);
            scalar("loss/value", losses.value_loss);
            for (tag, loss) in [("loss/margin", losses.margin_loss), ("loss/plies_left", losses.plies_left_loss)] {
                loss.into_iter().for_each(|loss| scalar(tag, loss));
            }
            scalar("loss/total", losses.total_loss);
            scalar("policy/divergence", losses.policy_divergence);
            scalar("policy/entropy", losses.policy_entropy);
            scalar("learner/gradient_norm", losses.gradient_norm);
        }
        scalar("learner/learning_rate", self.learning_rate);
        scalar("self_play/game_length", self.game_length);
        scalar("self_play/player_1_wins", self.outcome_shares[0]);
        scalar("self_play/draws", self.outcome_shares[1]);
        scalar("self_play/player_2_wins", self.outcome_shares[2]);
        scalar("self_play/positions_per_second", self.timing.positions_per_second);
        scalar("self_play/evaluations_per_second", self.timing.evaluations_per_second);
        scalar("replay/window", self.window as f64);
        for result in &self.arena {
            scalar(&opponent_tag("score", &result.opponent), result.score);
            scalar(&opponent_tag("elo", &result.opponent), result.elo);
        }
        if let Some(result) = &self.previous_best {
            scalar("arena/score_vs_previous_best", result.score);
        }
        if let Some(ladder) = &self.ladder {
            scalar("arena/ladder_elo", ladder.elo);
        }
        if let Some(grade) = &self.grade {
            scalar("truth/kept", grade.all.value());
            scalar("truth/kept_critical", grade.critical.value());
            grade.value_head.iter().for_each(|head| scalar("truth/value_head", head.accuracy.value()));
        }
    }
}

/// TensorBoard tag for a quantity that concerns one opponent. `:`, `,` and `=` are replaced by `_`.
#[must_use]
pub fn opponent_tag(what: &str, opponent: &str) -> String {
    format!("arena/{what}_vs_{}", opponent.replace([':', ',', '='], "_"))
}

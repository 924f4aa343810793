//! Metrics of an iteration: a line of `metrics.jsonl`, written and read; a line for people; scalars for TensorBoard.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use turnstone_base::times::duration;
use turnstone_models::StepReport;

use crate::tensorboard::EventLog;
use turnstone_arena::grading::Grade;
use turnstone_arena::page::PERCENT;
use turnstone_arena::{BySeat, Estimate, LadderRating, MatchResult, MatchScore, Meeting};

/// Metrics of one iteration. All but `timing` are identical when a run is repeated.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
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
    pub window: Option<usize>,
    /// Mean length of this iteration's games in plies, openings included.
    pub game_length: Option<f64>,
    /// Shares of this iteration's games won by player 1, drawn, won by player 2.
    pub outcome_shares: Option<[f64; 3]>,
    /// Learning rate at the end of the iteration.
    pub learning_rate: Option<f64>,
    /// Means over the iteration's learner steps; absent if there were none.
    pub losses: Option<StepReport>,
    /// Matches played after the iteration.
    pub arena: Vec<MatchMetrics>,
    /// The match against the previous best checkpoint, if one was played.
    pub previous_best: Option<MatchMetrics>,
    /// Rating on the game's ladder, if it was due.
    pub ladder: Option<LadderRating>,
    /// Grade against exact values after the iteration, if it was due and the game comes with exact values.
    pub grade: Option<Grade>,
    /// Durations and rates.
    pub timing: Timing,
}

/// The result of a match against one opponent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchMetrics {
    /// The opponent's spec.
    pub opponent: String,
    /// The network's results in both seats.
    pub by_seat: BySeat,
    /// Its score, 0..=1.
    pub score: f64,
    /// 95 % interval of the score.
    pub score_interval: [f64; 2],
    /// Elo difference; `None` if it is infinite.
    elo: Option<f64>,
    /// 95 % interval of the Elo difference; an end is `None` if it is infinite.
    elo_interval: [Option<f64>; 2],
    /// Number of distinct games.
    pub distinct_games: Option<usize>,
}

impl MatchMetrics {
    /// Returns the metrics of a match.
    #[must_use]
    pub fn of_match(result: &MatchResult) -> Self {
        Self::new(result.record.header.agents[1].clone(), result.meeting())
    }

    /// Returns the metrics of a match against `opponent`.
    #[must_use]
    pub fn new(opponent: String, result: &Meeting) -> Self {
        let MatchScore { score, score_interval, elo, elo_interval, .. } = result.estimate;
        let finite = |elo: f64| Some(elo).filter(|elo| elo.is_finite());
        Self {
            opponent,
            by_seat: result.by_seat,
            score,
            score_interval,
            elo: finite(elo),
            elo_interval: elo_interval.map(finite),
            distinct_games: Some(result.distinct_games),
        }
    }

    /// Returns the score with its interval.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        Estimate { value: self.score, interval: self.score_interval }
    }

    /// Returns the Elo difference, infinite if every game was won or every game lost.
    #[must_use]
    pub fn elo(&self) -> f64 {
        self.elo.unwrap_or(if self.score < 0.5 { f64::NEG_INFINITY } else { f64::INFINITY })
    }

    /// Returns the Elo difference or, if every game was won or every game lost, the end of its 95 % interval that is nearer
    /// to 0: at least so many, or at most. A curve of finite differences alone would leave out the best matches.
    #[must_use]
    pub fn elo_or_bound(&self) -> f64 {
        let [low, high] = self.elo_interval();
        self.elo.unwrap_or(if self.score < 0.5 { high } else { low })
    }

    /// Returns the 95 % interval of the Elo difference.
    #[must_use]
    pub fn elo_interval(&self) -> [f64; 2] {
        [self.elo_interval[0].unwrap_or(f64::NEG_INFINITY), self.elo_interval[1].unwrap_or(f64::INFINITY)]
    }

    /// Returns the number of games.
    #[must_use]
    pub fn games(&self) -> usize {
        self.by_seat.total().games()
    }
}

/// Durations and rates of an iteration: of the time since the line before, or since the program started.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Timing {
    /// Seconds of self-play.
    pub self_play_seconds: f64,
    /// Seconds of learning.
    pub learn_seconds: f64,
    /// Seconds in which self-play and learning ran at the same time, which are part of both.
    pub both_seconds: f64,
    /// Seconds of matches and grading.
    pub match_seconds: f64,
    /// Seconds of writing files: the iteration's positions, and what was written after the line before.
    pub file_seconds: f64,
    /// Seconds of the whole iteration.
    pub seconds: f64,
    /// Seconds of cores in which workers of self-play and of matches waited for the last one.
    pub idle_core_seconds: Option<f64>,
    /// Positions searched per second of self-play.
    pub positions_per_second: Option<f64>,
    /// Positions evaluated by the network per second of self-play, if it was in this process.
    pub evaluations_per_second: Option<f64>,
    /// Mean number of positions per evaluator batch, if self-play was in this process.
    pub mean_batch: Option<f64>,
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

    /// The stages of an iteration.
    pub(crate) const STAGES: [&str; 5] = ["self-play", "learning", "both at once", "matches", "files and the rest"];

    /// Returns the seconds of each of the stages.
    #[must_use]
    pub fn stage_seconds(&self) -> [f64; 5] {
        let Timing { self_play_seconds, learn_seconds, both_seconds: both, match_seconds, seconds, .. } = self.timing;
        let stages = [self_play_seconds - both, learn_seconds - both, both, match_seconds];
        let rest = (seconds - stages.iter().sum::<f64>()).max(0.0);
        [stages[0], stages[1], stages[2], stages[3], rest]
    }

    /// Explanation of [`Metrics::line`], for the beginning of a log.
    pub const LEGEND: &str = "each line: iteration/all, learner steps so far, loss of the policy (p), of the value (v) and of \
                              other targets, mean plies of a game, positions of self-play per second, time left";

    /// Formats the iteration as one line, with the estimated time for the rest of the run.
    #[must_use]
    pub fn line(&self, iterations: u64, left: Duration) -> String {
        let losses = match &self.losses {
            Some(losses) => {
                let targets = losses.targets.iter().map(|(name, loss)| format!(" {name} {loss:.3}"));
                let targets: String = targets.collect();
                format!("loss p {:.3} v {:.3}{targets}", losses.policy_loss, losses.value_loss)
            }
            None => "no step yet".into(),
        };
        // The last iteration of a run with overlap has been played before.
        let rate = self.timing.positions_per_second.filter(|rate| rate.is_finite());
        let rate = rate.map_or_else(|| "-".into(), |rate| format!("{rate:.0}"));
        format!(
            "{:>4}/{iterations} step {} {losses} plies {:.0} {rate} pos/s, {} left",
            self.iteration,
            self.step,
            self.game_length.unwrap_or(f64::NAN),
            duration(left),
        )
    }

    /// Writes the metrics as TensorBoard scalars over the learner's steps.
    pub fn report(&self, events: &mut EventLog) {
        let mut scalar = |tag: &str, value: f64| events.scalar(tag, value, self.step);
        let in_charts = [STRENGTH, LEARNING, THROUGHPUT].into_iter().flatten().flat_map(|figure| figure.quantities);
        for (tag, _, value) in in_charts.chain(OTHERS).filter(|(tag, _, _)| !tag.is_empty()) {
            value(self).into_iter().for_each(|value| scalar(tag, value));
        }
        for (name, &loss) in self.losses.iter().flat_map(|losses| &losses.targets) {
            scalar(&format!("loss/{name}"), loss);
        }
        for result in &self.arena {
            scalar(&opponent_tag("score", &result.opponent), result.score);
            scalar(&opponent_tag("elo", &result.opponent), result.elo_or_bound());
        }
    }
}

/// A quantity of an iteration: its tag in TensorBoard, empty for none; its name in the legend of its chart; its value.
pub(crate) type Quantity = (&'static str, &'static str, fn(&Metrics) -> Option<f64>);

/// A chart of quantities over the iterations, which the page of a run shows and TensorBoard gets the scalars of. A new metric
/// is an entry below.
pub(crate) struct Figure {
    pub(crate) title: &'static str,
    /// Unit of the values; those of `%` are shares, and those of a stack are drawn as shares of their sum.
    pub(crate) unit: &'static str,
    pub(crate) is_stacked: bool,
    /// The axis, if it does not follow from the values.
    pub(crate) y: Option<[f64; 3]>,
    pub(crate) quantities: &'static [Quantity],
    pub(crate) note: &'static str,
    /// Whether a quantity that is always 0 is left out.
    pub(crate) hides_zeros: bool,
    /// Whether pages that compare runs show it.
    pub(crate) is_compared: bool,
}

const fn lines(title: &'static str, unit: &'static str, quantities: &'static [Quantity], note: &'static str) -> Figure {
    Figure { title, unit, is_stacked: false, y: None, quantities, note, hides_zeros: false, is_compared: false }
}

impl Figure {
    const fn compared(self) -> Self {
        Self { is_compared: true, ..self }
    }
}

/// Of pages that compare runs; the page of a run shows the same with intervals.
pub(crate) static STRENGTH: &[Figure] = &[
    Figure {
        y: Some(PERCENT),
        ..lines("Score", "%", &[("", "mean", Metrics::mean_score)], "On the ladder, or mean over the opponents.")
    }
    .compared(),
    lines(
        "Elo on the ladder",
        "Elo",
        &[("arena/ladder_elo", "checkpoint", |it| Some(it.ladder.as_ref()?.elo))],
        "Random play has 0.",
    )
    .compared(),
    lines(
        "Moves that preserve the value",
        "%",
        &[("truth/kept", "all positions", |it| Some(it.grade.as_ref()?.all.value()))],
        "Against exact values.",
    )
    .compared(),
];

pub(crate) static LEARNING: &[Figure] = &[
    lines(
        "Losses",
        "nats",
        &[
            ("loss/policy", "policy", |it| Some(it.losses.as_ref()?.policy_loss)),
            ("loss/value", "value", |it| Some(it.losses.as_ref()?.value_loss)),
        ],
        "Cross-entropies of policy and win/draw/loss, means over an iteration's steps.",
    )
    .compared(),
    lines(
        "Policy divergence",
        "nats",
        &[("policy/divergence", "from the search's policy", |it| Some(it.losses.as_ref()?.policy_divergence))],
        "KL divergence of the network's policy from the targets: policy loss minus the targets' entropy.",
    )
    .compared(),
    lines(
        "Policy entropy",
        "nats",
        &[("policy/entropy", "of the network", |it| Some(it.losses.as_ref()?.policy_entropy))],
        "Entropy of the network's policy over the legal actions.",
    ),
    Figure {
        is_stacked: true,
        ..lines(
            "Outcomes of self-play",
            "%",
            &[
                ("self_play/player_1_wins", "player 1 wins", |it| Some(it.outcome_shares?[0])),
                ("self_play/draws", "draws", |it| Some(it.outcome_shares?[1])),
                ("self_play/player_2_wins", "player 2 wins", |it| Some(it.outcome_shares?[2])),
            ],
            "Shares of each iteration's games.",
        )
    },
    lines(
        "Length of games",
        "plies",
        &[("self_play/game_length", "mean", |it| it.game_length)],
        "Random opening plies included.",
    )
    .compared(),
    lines(
        "Learning rate",
        "",
        &[("learner/learning_rate", "AdamW", |it| it.learning_rate)],
        "At the end of each iteration.",
    ),
    lines(
        "Gradient norm",
        "",
        &[("learner/gradient_norm", "before clipping", |it| Some(it.losses.as_ref()?.gradient_norm))],
        "Over all parameters together, means over an iteration's steps.",
    ),
    lines(
        "Replay window",
        "positions",
        &[("replay/window", "positions", |it| Some(it.window? as f64))],
        "Positions that batches are drawn from.",
    ),
];

pub(crate) static THROUGHPUT: &[Figure] = &[
    lines(
        "Positions",
        "per second",
        &[("self_play/positions_per_second", "positions/s", |it| it.timing.positions_per_second)],
        "Positions searched per second of self-play.",
    )
    .compared(),
    lines(
        "Evaluations",
        "per second",
        &[("self_play/evaluations_per_second", "evaluations/s", |it| it.timing.evaluations_per_second)],
        "Positions evaluated by the network per second of self-play.",
    ),
    lines(
        "Batches",
        "positions",
        &[("", "mean batch", |it| it.timing.mean_batch)],
        "Mean number of positions that the network evaluates together.",
    ),
    Figure {
        is_stacked: true,
        hides_zeros: true,
        ..lines(
            "Share of time",
            "%",
            &[
                ("", Metrics::STAGES[0], |it| Some(it.stage_seconds()[0])),
                ("", Metrics::STAGES[1], |it| Some(it.stage_seconds()[1])),
                ("", Metrics::STAGES[2], |it| Some(it.stage_seconds()[2])),
                ("", Metrics::STAGES[3], |it| Some(it.stage_seconds()[3])),
                ("", Metrics::STAGES[4], |it| Some(it.stage_seconds()[4])),
            ],
            "Of each iteration's wall time.",
        )
    },
    lines(
        "Idle cores",
        "core seconds",
        &[("time/idle_cores", "waiting", |it| it.timing.idle_core_seconds)],
        "Workers of self-play and of matches that waited for the last one, per iteration.",
    ),
    lines(
        "Time of an iteration",
        "seconds",
        &[("time/iteration", "seconds", |it| Some(it.timing.seconds))],
        "Matches make some iterations longer.",
    ),
];

/// Scalars of TensorBoard without a chart of their own.
static OTHERS: &[Quantity] = &[
    ("loss/total", "", |it| Some(it.losses.as_ref()?.total_loss)),
    ("time/self_play", "", |it| Some(it.timing.self_play_seconds)),
    ("time/learning", "", |it| Some(it.timing.learn_seconds)),
    ("time/both", "", |it| Some(it.timing.both_seconds)),
    ("time/matches", "", |it| Some(it.timing.match_seconds)),
    ("time/files", "", |it| Some(it.timing.file_seconds)),
    ("arena/score_vs_previous_best", "", |it| Some(it.previous_best.as_ref()?.score)),
    ("truth/kept_critical", "", |it| Some(it.grade.as_ref()?.critical.value())),
    ("truth/value_head", "", |it| Some(it.grade.as_ref()?.value_head.as_ref()?.accuracy.value())),
];

/// TensorBoard tag for a quantity that concerns one opponent. `:`, `,` and `=` are replaced by `_`.
#[must_use]
pub fn opponent_tag(what: &str, opponent: &str) -> String {
    format!("arena/{what}_vs_{}", opponent.replace([':', ',', '='], "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_and_written_as_it_was() {
        let line = r#"{"iteration":10,"step":713,"games":960,"positions":22819,"window":16066,"game_length":26.5,"outcome_shares":[0.4375,0.0625,0.5],"learning_rate":0.00025,"losses":{"policy_loss":0.75,"value_loss":0.5,"total_loss":1.25,"policy_divergence":0.25,"policy_entropy":0.8,"gradient_norm":0.7},"arena":[{"opponent":"random","by_seat":{"first":{"wins":1,"draws":0,"losses":0},"second":{"wins":1,"draws":0,"losses":0}},"score":1.0,"score_interval":[0.25,1.0],"elo":null,"elo_interval":[-190.5,null],"distinct_games":2}],"previous_best":null,"ladder":null,"grade":null,"timing":{"self_play_seconds":0.5,"learn_seconds":0.25,"both_seconds":0.0,"match_seconds":0.25,"file_seconds":0.125,"seconds":1.5,"idle_core_seconds":0.5,"positions_per_second":11154.5,"evaluations_per_second":null,"mean_batch":17.5}}"#;
        let metrics: Metrics = serde_json::from_str(line).expect("a line of a run");
        assert_eq!(serde_json::to_string(&metrics).expect("JSON"), line);
        assert_eq!(
            (metrics.losses.as_ref().map(|losses| losses.value_loss), metrics.arena[0].elo()),
            (Some(0.5), f64::INFINITY)
        );
        assert_eq!(metrics.arena[0].elo_or_bound(), -190.5, "the bound of a match that was won to the last game");
        let folder = tempfile::tempdir().expect("a temporary folder");
        metrics.report(&mut EventLog::open(folder.path()));
        let events = crate::tensorboard::tests::read(folder.path());
        let values = events.iter().flat_map(|event| event.get_summary().get_value());
        let values: Vec<_> = values.map(|value| (value.get_tag(), value.get_simple_value())).collect();
        for shown in [
            ("loss/policy", 0.75),
            ("time/files", 0.125),
            ("arena/score_vs_random", 1.0),
            ("arena/elo_vs_random", -190.5),
        ] {
            assert!(values.contains(&shown), "{shown:?}: {values:?}");
        }
        let without = line.replace(r#""value_loss":0.5,"#, "");
        let fault = serde_json::from_str::<Metrics>(&without).expect_err("a field is missing").to_string();
        assert!(fault.starts_with("missing field `value_loss`"), "{fault}");
    }
}

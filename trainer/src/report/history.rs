//! Reads a run's `metrics.jsonl`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;
use turnstone_base::files::read_bounded;

use crate::metrics_file::{self, LONGEST_METRICS};
use turnstone_arena::grading::Grade;
use turnstone_arena::{LadderRating, SeatRecord};

/// Metrics of one iteration. Fields that files of other versions may lack are optional; unknown fields are ignored.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Iteration {
    /// The iteration, from 1.
    pub iteration: u64,
    /// Learner steps so far.
    pub step: u64,
    /// Self-play games so far.
    pub games: u64,
    /// Self-play positions so far.
    pub positions: u64,
    /// Positions in the replay window.
    pub window: Option<u64>,
    /// Mean length of the iteration's games in plies.
    pub game_length: Option<f64>,
    /// Shares of the iteration's games won by player 1, drawn, won by player 2.
    pub outcome_shares: Option<[f64; 3]>,
    /// Learning rate at the end of the iteration.
    pub learning_rate: Option<f64>,
    /// Means over the iteration's learner steps by name; absent if there were none.
    pub losses: Option<BTreeMap<String, Option<f64>>>,
    /// Matches played after the iteration.
    #[serde(default)]
    pub arena: Vec<Match>,
    /// The match against the previous best checkpoint.
    pub previous_best: Option<Match>,
    /// Rating on the game's ladder.
    pub ladder: Option<LadderRating>,
    /// Grade against exact values after the iteration.
    pub grade: Option<Grade>,
    /// Durations and rates.
    pub timing: Stages,
}

/// The result of a match against one opponent.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Match {
    /// The opponent's spec.
    pub opponent: String,
    /// The network's record in both seats.
    pub by_seat: SeatRecord,
    /// Its score, 0..=1.
    pub score: f64,
    /// 95 % interval of the score.
    pub score_interval: [f64; 2],
    /// Elo difference; absent if it is infinite.
    elo: Option<f64>,
    /// 95 % interval of the Elo difference, its ends absent where they are infinite.
    elo_interval: [Option<f64>; 2],
}

/// Durations and rates of an iteration.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
pub struct Stages {
    /// Seconds of self-play.
    pub self_play_seconds: f64,
    /// Seconds of learning.
    pub learn_seconds: f64,
    /// Seconds in which self-play and learning went on at the same time; part of both.
    #[serde(default)]
    pub both_seconds: f64,
    /// Seconds of matches and grading.
    #[serde(default)]
    pub match_seconds: f64,
    /// Seconds of cores in which workers of self-play and of matches waited for the last one.
    pub idle_core_seconds: Option<f64>,
    /// Seconds of the whole iteration.
    pub seconds: f64,
    /// Positions searched per second of self-play.
    pub positions_per_second: Option<f64>,
    /// Positions evaluated by the network per second of self-play.
    pub evaluations_per_second: Option<f64>,
    /// Mean number of positions per evaluator batch.
    pub mean_batch: Option<f64>,
}

/// A damaged line of the metrics.
#[derive(Debug, Error)]
#[error("{}: line {line}: {fault}", path.display())]
pub struct HistoryError {
    path: PathBuf,
    line: usize,
    fault: String,
}

impl Match {
    /// Returns the Elo difference, infinite if every game was won or every game lost.
    #[must_use]
    pub fn elo(&self) -> f64 {
        self.elo.unwrap_or(if self.score < 0.5 { f64::NEG_INFINITY } else { f64::INFINITY })
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

impl Iteration {
    /// Returns the mean of a loss over the iteration's learner steps, if it is known.
    #[must_use]
    pub fn loss(&self, name: &str) -> Option<f64> {
        self.losses.as_ref()?.get(name).copied().flatten()
    }

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

    /// Returns the seconds of self-play alone, of learning alone, of both at once, of matches, and of the rest: files, and
    /// in lines of earlier versions also matches.
    #[must_use]
    pub fn stage_seconds(&self) -> [f64; 5] {
        let Stages { self_play_seconds, learn_seconds, both_seconds: both, match_seconds, seconds, .. } = self.timing;
        let stages = [self_play_seconds - both, learn_seconds - both, both, match_seconds];
        let rest = (seconds - stages.iter().sum::<f64>()).max(0.0);
        [stages[0], stages[1], stages[2], stages[3], rest]
    }
}

/// Reads the metrics of a run; a missing file counts as empty. A last line without a line break is incomplete and
/// ignored: it is still being written, or the run was interrupted.
///
/// # Errors
/// The first line that is damaged, or whose iteration is not above that of the line before it.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Iteration>> {
    let bytes = match read_bounded(path, LONGEST_METRICS) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(anyhow::Error::new(e).context(path.display().to_string())),
    };
    Ok(parse(&bytes).map_err(|(line, fault)| HistoryError { path: path.to_owned(), line, fault })?)
}

/// Parses the bytes of a run's metrics.
///
/// # Errors
/// The number of the first faulty line, and its fault.
pub fn parse(bytes: &[u8]) -> Result<Vec<Iteration>, (usize, String)> {
    let mut history: Vec<Iteration> = Vec::new();
    for (number, object) in metrics_file::objects(bytes) {
        let object = object.map_err(|fault| (number, fault))?;
        let iteration: Iteration = serde_json::from_str(&object).map_err(|e| (number, e.to_string()))?;
        if let Some(last) = history.last().filter(|last| last.iteration >= iteration.iteration) {
            return Err((
                number,
                format!("iteration {} comes after iteration {}", iteration.iteration, last.iteration),
            ));
        }
        history.push(iteration);
    }
    Ok(history)
}

/// The first and the last iteration.
pub(super) fn span(history: &[Iteration]) -> Option<[f64; 2]> {
    Some([history.first()?.iteration as f64, history.last()?.iteration as f64])
}

/// The opponents of all matches in the order of their first match.
pub(super) fn opponents(history: &[Iteration]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for result in history.iter().flat_map(|iteration| &iteration.arena) {
        if !names.contains(&result.opponent) {
            names.push(result.opponent.clone());
        }
    }
    names
}

/// The matches against an opponent, with their iterations.
pub(super) fn matches<'a>(
    history: &'a [Iteration],
    opponent: &'a str,
) -> impl Iterator<Item = (&'a Iteration, &'a Match)> {
    history.iter().flat_map(move |iteration| {
        iteration.arena.iter().filter(move |result| result.opponent == opponent).map(move |result| (iteration, result))
    })
}

/// The iteration whose checkpoint is `best.safetensors`: the one with the greatest mean score, the last among equals.
pub(super) fn best(history: &[Iteration]) -> Option<&Iteration> {
    let scored = history.iter().filter_map(|iteration| Some((iteration, iteration.mean_score()?)));
    scored.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(iteration, _)| iteration)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A line of metrics with the required fields and `extra`.
    pub(in crate::report) fn line(iteration: u64, extra: &str) -> String {
        format!(
            r#"{{"iteration":{iteration},"step":1,"games":2,"positions":3,{extra}"timing":{{"self_play_seconds":1.0,"learn_seconds":0.5,"seconds":2.0}}}}"#
        ) + "\n"
    }

    #[test]
    fn half_a_last_line_does_not_count_and_damage_is_named() {
        let two = line(1, "") + &line(2, "");
        assert_eq!(parse(two.as_bytes()).expect("sound").len(), 2);
        assert_eq!(parse((two.clone() + "{\"iteration\":3,").as_bytes()).expect("sound").len(), 2);
        assert_eq!(parse(b"").expect("empty"), []);
        let (number, _) = parse((line(1, "") + "{\"iter\n" + &line(3, "")).as_bytes()).expect_err("damaged");
        assert_eq!(number, 2);
        let (number, fault) = parse((two.clone() + &line(2, "")).as_bytes()).expect_err("back in time");
        assert_eq!((number, fault.as_str()), (3, "iteration 2 comes after iteration 2"));
    }

    #[test]
    fn infinite_elo_comes_back_from_null() {
        let seat = r#"{"wins":1,"draws":0,"losses":0}"#;
        let arena = format!(
            r#""arena":[{{"opponent":"random","by_seat":{{"first":{seat},"second":{seat}}},"score":1.0,"score_interval":[0.8,1.0],"elo":null,"elo_interval":[240.8,null]}}],"#
        );
        let history = parse(line(1, &arena).as_bytes()).expect("sound");
        let result = &history[0].arena[0];
        assert_eq!((result.elo(), result.elo_interval()), (f64::INFINITY, [240.8, f64::INFINITY]));
        assert_eq!((result.games(), history[0].mean_score()), (2, Some(1.0)));
        assert_eq!(history[0].stage_seconds(), [1.0, 0.5, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn stages_divide_the_time_of_an_iteration() {
        let timed = line(1, "").replace(r#""seconds":2.0"#, r#""both_seconds":0.25,"match_seconds":0.5,"seconds":2.0"#);
        let history = parse(timed.as_bytes()).expect("sound");
        assert_eq!(history[0].stage_seconds(), [0.75, 0.25, 0.25, 0.5, 0.25]);
    }
}

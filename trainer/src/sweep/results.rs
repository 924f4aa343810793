//! Results of the runs of a sweep, and their order.

use std::fmt::Write;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;
use turnstone_arena::LadderRating;
use turnstone_arena::grading::Share;
use turnstone_base::times::duration;

use crate::metrics::{MatchMetrics, Metrics};

/// What variants are ranked by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// Share of moves that keep the exact value.
    Kept,
    /// The same in critical positions.
    Critical,
    /// Score on the game's ladder.
    Ladder,
    /// Mean score against the opponents of the matches.
    Score,
}

impl Measure {
    /// All measures, in the order in which they are chosen where none is named.
    pub const ALL: [Measure; 4] = [Measure::Kept, Measure::Critical, Measure::Ladder, Measure::Score];

    /// Its name in command lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Measure::Kept => "kept",
            Measure::Critical => "critical",
            Measure::Ladder => "ladder",
            Measure::Score => "score",
        }
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Measure::ALL.map(Measure::name).join(", ");
        Measure::ALL.into_iter().find(|measure| measure.name() == text).ok_or_else(|| format!("known are {}", names()))
    }
}

/// Result of a variant's run, by its newest evaluation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VariantResult {
    /// The variant's values.
    pub variant: String,
    /// Folder of its run.
    pub run: String,
    /// Iterations done.
    pub iteration: u64,
    /// Self-play positions.
    pub positions: u64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Moves that keep the exact value, in all positions.
    pub kept: Option<Share>,
    /// The same in critical positions.
    pub critical: Option<Share>,
    /// Rating on the game's ladder.
    pub ladder: Option<LadderRating>,
    /// Mean score of the matches, 0..=1, and the number of their games.
    pub score: Option<(f64, usize)>,
}

impl VariantResult {
    /// Reads the result of a variant from its run's metrics.
    #[must_use]
    pub fn new(variant: &str, run: &Path, history: &[Metrics]) -> Self {
        let last = history.last();
        let evaluated = |is: fn(&Metrics) -> bool| history.iter().rev().find(|iteration| is(iteration));
        let grade = evaluated(|iteration| iteration.grade.is_some()).and_then(|iteration| iteration.grade.as_ref());
        let matches = evaluated(|iteration| !iteration.arena.is_empty()).map(|iteration| &iteration.arena);
        let ladder = evaluated(|iteration| iteration.ladder.is_some()).and_then(|iteration| iteration.ladder.as_ref());
        Self {
            variant: variant.to_owned(),
            run: run.display().to_string(),
            iteration: last.map_or(0, |last| last.iteration),
            positions: last.map_or(0, |last| last.positions),
            seconds: history.iter().map(|iteration| iteration.timing.seconds).sum(),
            kept: grade.map(|grade| grade.all),
            critical: grade.map(|grade| grade.critical),
            ladder: ladder.cloned(),
            score: matches.map(|matches| {
                let sum: f64 = matches.iter().map(|result| result.score).sum();
                (sum / matches.len() as f64, matches.iter().map(MatchMetrics::games).sum())
            }),
        }
    }

    /// The value by which it is ranked, if it was measured.
    fn value(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Kept => self.kept.map(|share| share.value()),
            Measure::Critical => self.critical.map(|share| share.value()),
            Measure::Ladder => self.ladder.as_ref().map(|rating| rating.score),
            Measure::Score => self.score.map(|(score, _)| score),
        }
    }
}

/// The places of the results, best first; among equals in their order. Without a measure the first that every variant
/// has decides.
///
/// # Errors
/// The variants were not evaluated by the measure.
pub fn best_first(results: &[VariantResult], by: Option<Measure>) -> Result<Vec<usize>> {
    let has = |measure: &Measure| results.iter().all(|result| result.value(*measure).is_some());
    let measure = match by {
        Some(measure) => Some(measure).filter(has),
        None => Measure::ALL.into_iter().find(has),
    };
    let measure = measure.with_context(|| {
        let by = by.map_or("match, ladder or grade", Measure::name);
        format!("the runs have no {by} to be ranked by; see [arena] in the config")
    })?;
    let mut order: Vec<usize> = (0..results.len()).collect();
    let value = |&place: &usize| results[place].value(measure).unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|a, b| value(b).total_cmp(&value(a)));
    Ok(order)
}

/// One line per variant, in the given order, with 95 % intervals.
#[must_use]
pub fn table(results: &[VariantResult], order: &[usize]) -> String {
    let share = |share: Option<Share>| match share {
        Some(share) => {
            let [low, high] = share.interval.map(|end| 100.0 * end);
            format!("{:.1} % [{low:.1}, {high:.1}]", 100.0 * share.value())
        }
        None => "-".into(),
    };
    let head = ["run", "iterations", "time", "keeps the value", "critical", "ladder Elo", "score", "variant"];
    let mut rows = vec![head.map(str::to_owned)];
    for &place in order {
        let result = &results[place];
        let time = Duration::try_from_secs_f64(result.seconds).unwrap_or_default();
        rows.push([
            (place + 1).to_string(),
            result.iteration.to_string(),
            duration(time),
            share(result.kept),
            share(result.critical),
            result.ladder.as_ref().map_or_else(|| "-".into(), |rating| format!("{:.0}", rating.elo)),
            result.score.map_or_else(|| "-".into(), |(score, games)| format!("{:.1} % of {games}", 100.0 * score)),
            result.variant.clone(),
        ]);
    }
    // A column without any value is left out.
    let shown: Vec<usize> =
        (0..head.len()).filter(|&column| rows[1..].iter().any(|row| row[column] != "-" || column == 0)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for &column in &shown {
            write!(line, "{:width$}  ", row[column], width = width(column)).expect("a string");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(kept: Option<usize>, score: Option<f64>) -> VariantResult {
        let kept = kept.map(|kept| Share::of((0..100).map(|i| i < kept)));
        VariantResult {
            variant: "learn.batch=64".into(),
            run: "sweep/1".into(),
            iteration: 10,
            positions: 1000,
            seconds: 61.0,
            kept,
            critical: kept,
            ladder: None,
            score: score.map(|score| (score, 40)),
        }
    }

    #[test]
    fn the_measure_decides_the_order() {
        let results = [
            result(Some(90), Some(0.9)),
            result(Some(95), Some(0.5)),
            result(Some(95), Some(0.7)),
            result(Some(80), Some(0.95)),
        ];
        assert_eq!(best_first(&results, None).unwrap(), [1, 2, 0, 3], "by grade, equals in order");
        assert_eq!(best_first(&results, Some(Measure::Score)).unwrap(), [3, 0, 2, 1]);
        let error = best_first(&results, Some(Measure::Ladder)).unwrap_err();
        assert!(error.to_string().contains("no ladder"), "{error}");
        let mixed = [result(None, Some(0.1)), result(Some(90), Some(0.2))];
        assert_eq!(best_first(&mixed, None).unwrap(), [1, 0], "the grade of one alone says nothing");
        assert!(best_first(&[result(None, None)], None).is_err());
    }

    #[test]
    fn the_table_leaves_out_what_was_not_measured() {
        let text = table(&[result(Some(90), None), result(Some(95), None)], &[1, 0]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].split_whitespace().next(), Some("run"));
        assert!(!lines[0].contains("ladder") && !lines[0].contains("score") && lines[0].ends_with("variant"));
        assert!(lines[1].starts_with("2 ") && lines[1].contains("95.0 % [88.8, 97.8]"), "{text}");
        assert!(lines[1].contains("1 min 01 s") && lines[1].ends_with("learn.batch=64"), "{text}");
    }
}

//! Results of the runs of a sweep, and their order.

use std::fmt::Write;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;
use turnstone_arena::grading::Share;
use turnstone_arena::{Estimate, LadderRating};
use turnstone_base::times::duration;

use crate::metrics::Metrics;
use crate::report::newest_score;

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
    /// Mean score of the matches, 0..=1.
    pub score: Option<Estimate>,
}

impl VariantResult {
    /// Reads the result of a variant from its run's metrics.
    #[must_use]
    pub fn new(variant: &str, run: &Path, history: &[Metrics]) -> Self {
        let last = history.last();
        let evaluated = |is: fn(&Metrics) -> bool| history.iter().rev().find(|iteration| is(iteration));
        let grade = evaluated(|iteration| iteration.grade.is_some()).and_then(|iteration| iteration.grade.as_ref());
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
            score: newest_score(history),
        }
    }

    /// What it is ranked by, if that was measured: shares, or Elo on the ladder.
    fn measured(&self, measure: Measure) -> Option<Estimate> {
        let of = |share: Share| Estimate { value: share.value(), interval: share.interval };
        match measure {
            Measure::Kept => self.kept.map(of),
            Measure::Critical => self.critical.map(of),
            Measure::Ladder => self.ladder.as_ref().map(LadderRating::estimate),
            Measure::Score => self.score,
        }
    }
}

/// The order of variants by a measure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ranking {
    /// The measure.
    pub measure: Measure,
    /// Places of the results, best first; among equals in their order.
    pub order: Vec<usize>,
}

/// Ranks the results. Without a measure the first that every variant has decides.
///
/// # Errors
/// The variants were not evaluated by the measure.
pub fn best_first(results: &[VariantResult], by: Option<Measure>) -> Result<Ranking> {
    let has = |measure: &Measure| results.iter().all(|result| result.measured(*measure).is_some());
    let measure = match by {
        Some(measure) => Some(measure).filter(has),
        None => Measure::ALL.into_iter().find(has),
    };
    let measure = measure.with_context(|| {
        let by = by.map_or("match, ladder or grade", Measure::name);
        format!("the runs have no {by} to be ranked by; see [arena] in the config")
    })?;
    let mut order: Vec<usize> = (0..results.len()).collect();
    // The score on the ladder is finite where the rating is not.
    let value = |&place: &usize| match (measure, &results[place].ladder) {
        (Measure::Ladder, Some(rating)) => rating.score,
        _ => results[place].measured(measure).map_or(f64::NEG_INFINITY, |measured| measured.value),
    };
    order.sort_by(|a, b| value(b).total_cmp(&value(a)));
    Ok(Ranking { measure, order })
}

/// One line per variant, best first, with 95 % intervals, and whether it differs from the best.
#[must_use]
pub fn table(results: &[VariantResult], ranking: &Ranking) -> String {
    let shown = |estimate: Option<Estimate>, scale: f64, digits: usize, unit: &str| match estimate {
        Some(Estimate { value, interval }) => {
            let [low, high] = interval.map(|end| scale * end);
            format!("{:.digits$}{unit} [{low:.digits$}, {high:.digits$}]", scale * value)
        }
        None => "-".into(),
    };
    let Ranking { measure, order } = ranking;
    let measured = |place: usize| results[place].measured(*measure);
    let against_best = |place: usize| match (measured(place), order.first().and_then(|&best| measured(best))) {
        (Some(_), _) if order.first() == Some(&place) => "best",
        (Some(own), Some(best)) => own.minus(&best).verdict(),
        _ => "-",
    };
    let head = [
        "run",
        "iterations",
        "time",
        "keeps the value",
        "critical",
        "ladder Elo",
        "score",
        "against the best",
        "variant",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    for &place in order {
        let result = &results[place];
        let time = Duration::try_from_secs_f64(result.seconds).unwrap_or_default();
        rows.push([
            (place + 1).to_string(),
            result.iteration.to_string(),
            duration(time),
            shown(result.measured(Measure::Kept), 100.0, 1, " %"),
            shown(result.measured(Measure::Critical), 100.0, 1, " %"),
            shown(result.measured(Measure::Ladder), 1.0, 0, ""),
            shown(result.measured(Measure::Score), 100.0, 1, " %"),
            against_best(place).to_owned(),
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
    let name = measure.name();
    text + &format!(
        "ranked by {name}; intervals are 95 % and of the evaluation alone: another seed may change the order\n"
    )
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
            score: score.map(|score| Estimate { value: score, interval: [score - 0.1, score + 0.1] }),
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
        assert_eq!(best_first(&results, None).unwrap().order, [1, 2, 0, 3], "by grade, equals in order");
        assert_eq!(best_first(&results, Some(Measure::Score)).unwrap().order, [3, 0, 2, 1]);
        let error = best_first(&results, Some(Measure::Ladder)).unwrap_err();
        assert!(error.to_string().contains("no ladder"), "{error}");
        let mixed = [result(None, Some(0.1)), result(Some(90), Some(0.2))];
        assert_eq!(best_first(&mixed, None).unwrap().order, [1, 0], "the grade of one alone says nothing");
        assert!(best_first(&[result(None, None)], None).is_err());
    }

    #[test]
    fn the_table_has_what_was_measured_and_says_what_differs() {
        let results = [result(Some(90), None), result(Some(95), None), result(Some(60), None)];
        let text = table(&results, &best_first(&results, None).unwrap());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].split_whitespace().next(), Some("run"));
        assert!(!lines[0].contains("ladder") && !lines[0].contains("score") && lines[0].ends_with("variant"));
        assert!(lines[1].starts_with("2 ") && lines[1].contains("95.0 % [88.8, 97.8]"), "{text}");
        assert!(lines[1].contains("1 min 01 s") && lines[1].ends_with("learn.batch=64"), "{text}");
        for (line, verdict) in lines[1..4].iter().zip(["  best  ", "  no clear difference  ", "  worse  "]) {
            assert!(line.contains(verdict), "{text}");
        }
        assert!(lines[4].starts_with("ranked by kept; "), "{text}");
        let scored = [result(None, Some(0.5)), result(None, Some(0.9))];
        let text = table(&scored, &best_first(&scored, None).unwrap());
        assert!(text.contains("90.0 % [80.0, 100.0]") && text.contains("worse"), "{text}");
    }
}

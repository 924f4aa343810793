//! Reads a run's `metrics.jsonl`.

use std::path::Path;

use anyhow::anyhow;
use turnstone_arena::Estimate;
use turnstone_base::files::read_bounded;

use crate::metrics::{MatchMetrics, Metrics};
use crate::metrics_file::{self, LONGEST_METRICS};

/// Reads the metrics of a run; a missing file counts as empty. A last line without a line break is incomplete and
/// ignored: it is still being written, or the run was interrupted.
///
/// # Errors
/// The first line that is damaged, or whose iteration is not above that of the line before it.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Metrics>> {
    let bytes = match read_bounded(path, LONGEST_METRICS) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(anyhow::Error::new(e).context(path.display().to_string())),
    };
    parse(&bytes).map_err(|(line, fault)| anyhow!("{}: line {line}: {fault}", path.display()))
}

/// Parses the bytes of a run's metrics.
///
/// # Errors
/// The number of the first faulty line, and its fault.
fn parse(bytes: &[u8]) -> Result<Vec<Metrics>, (usize, String)> {
    let mut history: Vec<Metrics> = Vec::new();
    for (number, object) in metrics_file::objects(bytes) {
        let object = object.map_err(|fault| (number, fault))?;
        let iteration: Metrics = serde_json::from_str(&object).map_err(|e| (number, e.to_string()))?;
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
pub(super) fn span(history: &[Metrics]) -> Option<[f64; 2]> {
    Some([history.first()?.iteration as f64, history.last()?.iteration as f64])
}

/// The opponents of all matches in the order of their first match.
pub(super) fn opponents(history: &[Metrics]) -> Vec<String> {
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
    history: &'a [Metrics],
    opponent: &'a str,
) -> impl Iterator<Item = (&'a Metrics, &'a MatchMetrics)> {
    history.iter().flat_map(move |iteration| {
        iteration.arena.iter().filter(move |result| result.opponent == opponent).map(move |result| (iteration, result))
    })
}

/// The mean score of the newest matches against the opponents, 0..=1.
pub(crate) fn newest_score(history: &[Metrics]) -> Option<Estimate> {
    let newest = history.iter().rev().find(|iteration| !iteration.arena.is_empty())?;
    Estimate::mean(&newest.arena.iter().map(MatchMetrics::estimate).collect::<Vec<_>>())
}

/// The iteration whose checkpoint is `best.safetensors`: the one with the greatest mean score, the last among equals.
pub(super) fn best(history: &[Metrics]) -> Option<&Metrics> {
    let scored = history.iter().filter_map(|iteration| Some((iteration, iteration.mean_score()?)));
    scored.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(iteration, _)| iteration)
}

#[cfg(test)]
mod tests {
    use turnstone_base::checksum::seal_line;

    use super::*;

    /// A line of metrics with these matches and these seconds beside those of the whole iteration.
    fn line_with(iteration: u64, arena: &str, seconds: &str) -> String {
        let timing = format!(r#"{{"self_play_seconds":1.0,"learn_seconds":0.5,{seconds},"seconds":2.0}}"#);
        let object = format!(
            r#"{{"iteration":{iteration},"step":1,"games":2,"positions":3,"arena":[{arena}],"timing":{timing}}}"#
        );
        seal_line(&object) + "\n"
    }

    fn line(iteration: u64) -> String {
        line_with(iteration, "", r#""both_seconds":0.0,"match_seconds":0.0,"file_seconds":0.0"#)
    }

    #[test]
    fn half_a_last_line_does_not_count_and_damage_is_named() {
        let two = line(1) + &line(2);
        assert_eq!(parse(two.as_bytes()).expect("sound").len(), 2);
        assert_eq!(parse((two.clone() + "{\"iteration\":3,").as_bytes()).expect("sound").len(), 2);
        assert_eq!(parse(b"").expect("empty"), []);
        let (number, _) = parse((line(1) + "{\"iter\n" + &line(3)).as_bytes()).expect_err("damaged");
        assert_eq!(number, 2);
        let (number, fault) = parse((two.clone() + &line(2)).as_bytes()).expect_err("back in time");
        assert_eq!((number, fault.as_str()), (3, "iteration 2 comes after iteration 2"));
    }

    #[test]
    fn infinite_elo_comes_back_from_null() {
        let seat = r#"{"wins":1,"draws":0,"losses":0}"#;
        let arena = format!(
            r#"{{"opponent":"random","by_seat":{{"first":{seat},"second":{seat}}},"score":1.0,"score_interval":[0.8,1.0],"elo":null,"elo_interval":[240.8,null]}}"#
        );
        let seconds = r#""both_seconds":0.0,"match_seconds":0.0,"file_seconds":0.0"#;
        let history = parse(line_with(1, &arena, seconds).as_bytes()).expect("sound");
        let result = &history[0].arena[0];
        assert_eq!((result.elo(), result.elo_interval()), (f64::INFINITY, [240.8, f64::INFINITY]));
        assert_eq!((result.games(), history[0].mean_score()), (2, Some(1.0)));
        assert_eq!(history[0].stage_seconds(), [1.0, 0.5, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn stages_divide_the_time_of_an_iteration() {
        let timed = line_with(1, "", r#""both_seconds":0.25,"match_seconds":0.5,"file_seconds":0.0"#);
        let history = parse(timed.as_bytes()).expect("sound");
        assert_eq!(history[0].stage_seconds(), [0.75, 0.25, 0.25, 0.5, 0.25]);
    }
}

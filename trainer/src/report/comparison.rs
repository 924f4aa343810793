//! Several runs of one game: how far each has come, shared charts, and how their configs differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use turnstone_base::times::duration;

use super::history::{matches, newest_score, opponents};
use super::live::LiveRun;
use crate::config::Config;
use crate::metrics::{Figure, LEARNING, Metrics, Quantity, STRENGTH, THROUGHPUT};
use turnstone_arena::page::{Chart, Page, Point, Section, Series, escaped, grouped, title};
use turnstone_arena::{Estimate, LadderRating};

/// Number of runs that a chart has colours for.
pub const MOST_RUNS: usize = 6;

/// The sections of a comparison of up to six named runs; further ones are left out.
#[must_use]
pub fn comparison(runs: &[(String, LiveRun)]) -> Vec<Section> {
    let runs = &runs[..runs.len().min(MOST_RUNS)];
    let figures = [STRENGTH, LEARNING, THROUGHPUT].into_iter().flatten().filter(|figure| figure.is_compared);
    let groups = groups(runs);
    let charts = figures.flat_map(|figure| figure.quantities.iter().map(|quantity| chart(&groups, figure, quantity)));
    let html = format!("<div class=\"charts\">\n{}</div>\n", charts.collect::<String>());
    let mut lead = "The x axis counts iterations; runs may differ in the number of games of one.".to_owned();
    if groups.len() < runs.len() {
        lead += " Runs that differ in the seed alone are one line, their mean; its band reaches from the lowest to the highest.";
    }
    vec![
        summary(runs),
        Section { id: "curves", heading: "Curves", lead, html },
        Section { id: "differences", heading: "Configs", lead: String::new(), html: differences(runs) },
    ]
}

/// Returns the HTML page of named runs.
///
/// # Errors
/// The runs are too many or of different games.
pub fn comparison_page(runs: &[(String, LiveRun)]) -> Result<String> {
    ensure!(!runs.is_empty() && runs.len() <= MOST_RUNS, "1 to {MOST_RUNS} runs can be compared, not {}", runs.len());
    let (first, game) = (&runs[0].0, game_name(&runs[0].1.config));
    if let Some((name, run)) = runs.iter().find(|(_, run)| game_name(&run.config) != game) {
        let second = game_name(&run.config);
        bail!("{first} is a run of {game} and {name} one of {second}: only runs of one game are compared");
    }
    let header =
        format!("<p class=\"brand\">Turnstone</p>\n<h1>{}: {} runs compared</h1>\n", escaped(&title(game)), runs.len());
    let page = Page {
        title: &format!("{}: Turnstone runs compared", title(game)),
        header: &header,
        parts: &comparison(runs),
        footer: &format!("turnstone {}", env!("CARGO_PKG_VERSION")),
    };
    Ok(page.html())
}

/// Runs whose configs differ in the seed alone.
struct Group<'a> {
    name: String,
    runs: Vec<&'a LiveRun>,
}

fn groups(runs: &[(String, LiveRun)]) -> Vec<Group<'_>> {
    let mut groups: Vec<(toml::Table, Group<'_>)> = Vec::new();
    for (name, run) in runs {
        let mut config = run.config.by_path();
        config.remove("seed");
        match groups.iter_mut().find(|(known, _)| *known == config) {
            Some((_, group)) => {
                group.name += &format!(", {name}");
                group.runs.push(run);
            }
            None => groups.push((config, Group { name: name.clone(), runs: vec![run] })),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The strength of a run by its newest evaluation: Elo on the ladder, and the mean score of matches.
fn strength(run: &LiveRun) -> [Option<Estimate>; 2] {
    let ladder = run.history.iter().rev().find_map(|iteration| iteration.ladder.as_ref());
    [ladder.map(LadderRating::estimate), newest_score(&run.history)]
}

/// Whether a run is stronger than the first, by the ladder or else by scores; what it is ahead by, with an interval.
fn against_first(run: &LiveRun, first: &LiveRun) -> Option<String> {
    let (own, other) = (strength(run), strength(first));
    let both = own.into_iter().zip(other).zip([(1.0, 0, "Elo"), (100.0, 1, "%")]);
    let mut both = both.filter_map(|((own, other), shown)| Some((own?.minus(&other?), shown)));
    let (difference, (scale, digits, unit)) = both.next()?;
    let [low, high] = difference.interval.map(|end| scale * end);
    let (value, verdict) = (scale * difference.value, difference.verdict());
    Some(format!("{verdict}: {value:+.digits$} {unit} [{low:+.digits$}, {high:+.digits$}]"))
}

fn game_name(config: &Config) -> &str {
    config.game.get("name").and_then(toml::Value::as_str).unwrap_or_default()
}

/// Progress and results of each run.
fn summary(runs: &[(String, LiveRun)]) -> Section {
    let mut rows = String::new();
    for (number, (name, run)) in runs.iter().enumerate() {
        let last = run.history.last();
        let count = |value: Option<u64>| value.map_or_else(|| "-".into(), grouped);
        let seconds: f64 = run.history.iter().map(|iteration| iteration.timing.seconds).sum();
        let time = duration(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        let ladder = run.history.iter().rev().find_map(|iteration| iteration.ladder.as_ref());
        let ladder = ladder.map_or_else(|| "-".into(), |rating| escaped(&rating.to_string()));
        let newest = |opponent: &String| {
            let (_, result) = matches(&run.history, opponent).last()?;
            let [low, high] = result.score_interval.map(|end| 100.0 * end);
            Some(format!("{}: {:.1} % [{low:.1}, {high:.1}]", escaped(opponent), 100.0 * result.score))
        };
        let scores: Vec<String> = opponents(&run.history).iter().filter_map(newest).collect();
        let scores = if scores.is_empty() { "-".into() } else { scores.join("<br>") };
        let difference = if number == 0 { None } else { against_first(run, &runs[0].1) };
        let difference = difference.unwrap_or_else(|| "-".into());
        write!(
            rows,
            "<tr><td class=\"name\">{}</td><td>{}/{}</td><td>{}</td><td>{}</td><td>{time}</td><td class=\"name\">{ladder}</td><td class=\"name\">{scores}</td><td class=\"name\">{difference}</td></tr>",
            escaped(name),
            last.map_or(0, |iteration| iteration.iteration),
            run.config.run.iterations,
            count(last.map(|iteration| iteration.positions)),
            count(last.map(|iteration| iteration.step)),
        )
        .expect("a string");
    }
    let html = format!(
        "<div class=\"card\"><div class=\"scroll\" tabindex=\"0\"><table><tr><th class=\"name\">run</th><th>iterations</th><th>positions</th><th>steps</th><th>time</th><th class=\"name\">ladder</th><th class=\"name\">newest matches</th><th class=\"name\">against the first</th></tr>{rows}</table></div><p class=\"note\">Intervals are 95 % and of the evaluation alone: runs of other seeds differ more.</p></div>\n"
    );
    Section { id: "summary", heading: "Summary", lead: String::new(), html }
}

/// One quantity of all runs over the iterations; empty if no run has it.
fn chart(groups: &[Group<'_>], figure: &Figure, &(_, name, value): &Quantity) -> String {
    let &Figure { title, unit, y, note, .. } = figure;
    let title = if figure.quantities.len() > 1 { format!("{title}: {name}") } else { title.to_owned() };
    let scale = if unit == "%" { 100.0 } else { 1.0 };
    let series = |group| points(group, |iteration| Some(scale * value(iteration)?));
    let series: Vec<Series> = groups.iter().map(|group| Series { name: &group.name, points: series(group) }).collect();
    let note = note.to_owned();
    Chart { title: &title, unit, x_unit: "iteration", is_stacked: false, x: None, y, series, note }.figure()
}

/// The mean of a quantity over the runs at the iterations that all of them have, from the lowest to the highest.
fn points(group: &Group<'_>, value: impl Fn(&Metrics) -> Option<f64>) -> Vec<Point> {
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for iteration in group.runs.iter().flat_map(|run| &run.history) {
        if let Some(value) = value(iteration) {
            values.entry(iteration.iteration).or_default().push(value);
        }
    }
    let count = group.runs.len();
    let point = |(iteration, values): (u64, Vec<f64>)| {
        let ends = [
            values.iter().copied().fold(f64::INFINITY, f64::min),
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ];
        let y = values.iter().sum::<f64>() / count as f64;
        Point { x: iteration as f64, y, interval: (count > 1).then_some(ends) }
    };
    values.into_iter().filter(|(_, values)| values.len() == count).map(point).collect()
}

/// A table of the keys in which the configs, with all defaults, are not the same.
fn differences(runs: &[(String, LiveRun)]) -> String {
    let tables: Vec<_> = runs.iter().map(|(_, run)| run.config.by_path()).collect();
    let keys: BTreeSet<&String> = tables.iter().flat_map(|table| table.keys()).collect();
    let value = |table: &toml::Table, key: &str| table.get(key).map_or_else(|| "–".to_owned(), toml::Value::to_string);
    let mut rows = String::new();
    for key in keys {
        let values: Vec<String> = tables.iter().map(|table| value(table, key)).collect();
        if values.windows(2).any(|pair| pair[0] != pair[1]) {
            let cells: String = values.iter().map(|value| format!("<td>{}</td>", escaped(value))).collect();
            writeln!(rows, "<tr><td><code>{}</code></td>{cells}</tr>", escaped(key)).expect("a string");
        }
    }
    if rows.is_empty() {
        return "<p>The configs are the same.</p>\n".to_owned();
    }
    let names: String = runs.iter().map(|(name, _)| format!("<th>{}</th>", escaped(name))).collect();
    format!("<div class=\"card scroll\" tabindex=\"0\"><table><tr><th>key</th>{names}</tr>\n{rows}</table></div>\n")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn run(config: &str) -> LiveRun {
        let games = turnstone_games::list!(turnstone_selfplay::row);
        let config_read = Config::parse(config, &games).unwrap();
        LiveRun { config: config_read, text: config.to_owned(), folder: PathBuf::new(), history: Vec::new() }
    }

    /// An iteration with this mean score, and its interval.
    fn scored(iteration: u64, score: f64, [low, high]: [f64; 2]) -> Metrics {
        let tally = r#"{"wins":1,"draws":0,"losses":0}"#;
        let text = format!(
            r#"{{"iteration":{iteration},"step":1,"games":2,"positions":3,"arena":[{{"opponent":"random","by_seat":{{"first":{tally},"second":{tally}}},"score":{score},"score_interval":[{low},{high}],"elo":0,"elo_interval":[0,0]}}],"timing":{{"self_play_seconds":1,"learn_seconds":1,"both_seconds":0,"match_seconds":0,"file_seconds":0,"seconds":2}}}}"#
        );
        serde_json::from_str(&text).expect("metrics")
    }

    fn with(seed: u64, batch: u64, scores: &[f64]) -> (String, LiveRun) {
        let config = format!("seed = {seed}\n[game]\nname = \"mancala\"\n[learn]\nbatch = {batch}\n");
        let iteration = |(i, &score): (u64, &f64)| scored(i, score, [score - 0.03, score + 0.04]);
        let history = (1..).zip(scores).map(iteration).collect();
        (format!("{batch}-{seed}"), LiveRun { history, ..run(&config) })
    }

    #[test]
    fn runs_of_several_seeds_are_one_line_with_a_band() {
        let runs = [with(1, 64, &[0.5, 0.75]), with(2, 32, &[0.25]), with(3, 64, &[0.25, 0.25, 0.5])];
        let groups = groups(&runs);
        let names: Vec<&str> = groups.iter().map(|group| &group.name[..]).collect();
        assert_eq!(names, ["64-1, 64-3", "32-2"]);
        let points = |group| points(group, Metrics::mean_score);
        let point = |x, y, interval| Point { x, y, interval };
        let band = [point(1.0, 0.375, Some([0.25, 0.5])), point(2.0, 0.5, Some([0.25, 0.75]))];
        assert_eq!(points(&groups[0]), band, "where both seeds have come");
        assert_eq!(points(&groups[1]), [point(1.0, 0.25, None)]);
        assert!(comparison(&runs)[1].lead.contains("its band"), "{}", comparison(&runs)[1].lead);
        assert!(!comparison(&runs[..2])[1].lead.contains("its band"));
    }

    #[test]
    fn a_difference_is_said_where_it_is_one() {
        let runs = [with(1, 64, &[0.9, 0.5]), with(1, 32, &[0.6]), with(1, 16, &[0.54])];
        let html = &comparison(&runs)[0].html;
        assert!(html.contains("random: 50.0 % [47.0, 54.0]"), "{html}");
        assert!(html.contains("<td class=\"name\">better: +10.0 % [+5.0, +15.0]</td>"), "{html}");
        assert!(html.contains("<td class=\"name\">no clear difference: +4.0 % [-1.0, +9.0]</td>"), "{html}");
    }

    #[test]
    fn only_what_differs_is_listed() {
        let runs = ["seed = 1\n[game]\nname = \"mancala\"\n", "seed = 2\n[game]\nname = \"mancala\"\nstones = 3\n"];
        let runs: Vec<_> = ["a<b", "c"].map(str::to_owned).into_iter().zip(runs.map(run)).collect();
        let parts = comparison(&runs);
        let html = &parts[2].html;
        assert!(html.contains("<code>seed</code></td><td>1</td><td>2</td>"), "{html}");
        assert!(
            html.contains("<code>game.stones</code></td><td>–</td><td>3</td>") && html.contains("a&lt;b"),
            "{html}"
        );
        assert!(!html.contains("learn."), "{html}");
        assert!(comparison(&[runs[0].clone(), runs[0].clone()])[2].html.contains("are the same"));
    }
}

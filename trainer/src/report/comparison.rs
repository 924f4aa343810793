//! Several runs of one game on one page: shared charts, results side by side, and the differences of their configs.

use std::collections::BTreeSet;
use std::fmt::Write;

use anyhow::{Context, Result, bail, ensure};

use super::history::{self, Iteration, matches, opponents};
use crate::config::Config;
use crate::progress::duration;
use crate::run_folder::RunFolder;
use turnstone_arena::page::{Chart, Form, Page, Part, Point, Scale, Series, escaped, grouped, title};

/// Largest number of runs: the charts have so many colours.
pub const MOST_RUNS: usize = 6;

/// A run to be compared.
struct Compared {
    name: String,
    config: Config,
    history: Vec<Iteration>,
}

/// Returns the HTML page of two or more runs.
///
/// # Errors
/// The runs are too many or of different games, or a file of one is damaged.
pub fn comparison(runs: &[(RunFolder, Config)]) -> Result<String> {
    ensure!(runs.len() <= MOST_RUNS, "at most {MOST_RUNS} runs can be compared, not {}", runs.len());
    let names = names(runs);
    let runs: Vec<Compared> = names
        .into_iter()
        .zip(runs)
        .map(|(name, (folder, config))| {
            let history = history::read(&folder.metrics()).with_context(|| name.clone())?;
            Ok(Compared { name, config: config.clone(), history })
        })
        .collect::<Result<_>>()?;
    let game = game_name(&runs[0].config);
    if let Some(other) = runs.iter().find(|run| game_name(&run.config) != game) {
        let (a, b, second) = (&runs[0].name, &other.name, game_name(&other.config));
        bail!("{a} is a run of {game} and {b} one of {second}: only runs of one game are compared");
    }
    let parts = [summary(&runs), strength(&runs), learning(&runs), differences(&runs)];
    let header =
        format!("<p class=\"brand\">Turnstone</p>\n<h1>{}: {} runs compared</h1>\n", escaped(&title(game)), runs.len());
    let page = Page {
        title: &format!("{}: Turnstone runs compared", title(game)),
        header: &header,
        parts: &parts,
        footer: &format!("turnstone {}", env!("CARGO_PKG_VERSION")),
        script: "",
    };
    Ok(page.html())
}

fn game_name(config: &Config) -> &str {
    config.game.get("name").and_then(toml::Value::as_str).unwrap_or_default()
}

/// The runs' folder names, or their whole paths where two have the same name.
fn names(runs: &[(RunFolder, Config)]) -> Vec<String> {
    let short = |folder: &RunFolder| {
        folder
            .path()
            .file_name()
            .map_or_else(|| folder.path().display().to_string(), |n| n.to_string_lossy().into_owned())
    };
    let distinct: BTreeSet<String> = runs.iter().map(|(folder, _)| short(folder)).collect();
    let paths = distinct.len() < runs.len();
    let name = |(folder, _): &(RunFolder, Config)| {
        if paths { folder.path().display().to_string() } else { short(folder) }
    };
    runs.iter().map(name).collect()
}

/// How far each run has come and what it has reached.
fn summary(runs: &[Compared]) -> Part {
    let mut rows = String::new();
    for run in runs {
        let last = run.history.last();
        let count = |value: Option<u64>| value.map_or_else(|| "-".into(), grouped);
        let seconds: f64 = run.history.iter().map(|iteration| iteration.timing.seconds).sum();
        let time = duration(std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default());
        let ladder = run.history.iter().rev().find_map(|iteration| iteration.ladder.as_ref());
        let ladder = ladder.map_or_else(|| "-".into(), |rating| escaped(&rating.to_string()));
        let newest = |opponent: &String| {
            let (_, result) = matches(&run.history, opponent).last()?;
            Some(format!("{}: {:.1} %", escaped(opponent), 100.0 * result.score))
        };
        let scores: Vec<String> = opponents(&run.history).iter().filter_map(newest).collect();
        let scores = if scores.is_empty() { "-".into() } else { scores.join("<br>") };
        write!(
            rows,
            "<tr><td class=\"name\">{}</td><td>{}/{}</td><td>{}</td><td>{}</td><td>{time}</td><td class=\"name\">{ladder}</td><td class=\"name\">{scores}</td></tr>",
            escaped(&run.name),
            last.map_or(0, |iteration| iteration.iteration),
            run.config.run.iterations,
            count(last.map(|iteration| iteration.positions)),
            count(last.map(|iteration| iteration.step)),
        )
        .expect("a string");
    }
    let html = format!(
        "<div class=\"card\"><div class=\"scroll\"><table><tr><th class=\"name\">run</th><th>iterations</th><th>positions</th><th>steps</th><th>time</th><th class=\"name\">ladder</th><th class=\"name\">newest matches</th></tr>{rows}</table></div></div>\n"
    );
    Part { id: "summary", heading: "Summary", lead: String::new(), html }
}

fn strength(runs: &[Compared]) -> Part {
    let mut names: Vec<String> = Vec::new();
    for name in runs.iter().flat_map(|run| opponents(&run.history)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut figures = String::new();
    for name in &names {
        let points = |run: &Compared| -> Vec<Point> {
            let of = matches(&run.history, name);
            of.map(|(iteration, result)| {
                let interval = Some(result.score_interval.map(|end| 100.0 * end));
                Point { x: iteration.positions as f64, y: 100.0 * result.score, interval }
            })
            .collect()
        };
        figures += &chart(runs, &format!("Score against {name}"), "%", Some(Scale::fixed(0.0, 100.0, 25.0)), points);
    }
    figures += &chart(runs, "Elo on the ladder", "Elo", None, |run| {
        let rated = run.history.iter().filter_map(|iteration| Some((iteration, iteration.ladder.as_ref()?)));
        rated
            .map(|(it, ladder)| Point { x: it.positions as f64, y: ladder.elo, interval: Some(ladder.interval) })
            .collect()
    });
    let html = if figures.is_empty() {
        "<p>No match has been played yet.</p>\n".into()
    } else {
        format!("<div class=\"charts\">{figures}</div>\n")
    };
    Part { id: "strength", heading: "Strength", lead: "Over the positions of self-play.".into(), html }
}

fn learning(runs: &[Compared]) -> Part {
    let over = |value: &dyn Fn(&Iteration) -> Option<f64>, run: &Compared| -> Vec<Point> {
        let known = run.history.iter().filter_map(|iteration| Some((iteration.positions as f64, value(iteration)?)));
        known.map(|(x, y)| Point { x, y, interval: None }).collect()
    };
    let figures = [
        chart(runs, "Policy loss", "nats", None, |run| over(&|it| it.loss("policy_loss"), run)),
        chart(runs, "Value loss", "nats", None, |run| over(&|it| it.loss("value_loss"), run)),
        chart(runs, "Length of games", "plies", None, |run| over(&|it| it.game_length, run)),
        chart(runs, "Self-play", "positions per second", None, |run| over(&|it| it.timing.positions_per_second, run)),
    ];
    let html = format!("<div class=\"charts\">{}</div>\n", figures.concat());
    Part { id: "learning", heading: "Learning", lead: "Over the positions of self-play.".into(), html }
}

/// A chart with a line for each run that has any point; empty if none has.
fn chart(
    runs: &[Compared],
    title: &str,
    unit: &str,
    y: Option<Scale>,
    points: impl Fn(&Compared) -> Vec<Point>,
) -> String {
    // Each run keeps its colour, so one without points stays in the list.
    let series: Vec<Series> = runs.iter().map(|run| Series { name: &run.name, points: points(run) }).collect();
    if series.iter().all(|series| series.points.is_empty()) {
        return String::new();
    }
    let last = |run: &Compared| run.history.last().map_or(0, |iteration| iteration.positions);
    let most = runs.iter().map(last).max().unwrap_or(0);
    let x_range = Some([0.0, most as f64]);
    Chart { title, unit, x_unit: "positions", form: Form::Lines, x_range, y, series }.figure("")
}

/// A table of the config's values that differ.
fn differences(runs: &[Compared]) -> Part {
    let tables: Vec<Vec<(String, String)>> = runs.iter().map(|run| values(&run.config)).collect();
    let mut keys: Vec<&String> = Vec::new();
    for (key, _) in tables.iter().flatten() {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let of = |table: &[(String, String)], key: &String| {
        table.iter().find(|(other, _)| other == key).map_or_else(|| "-".to_owned(), |(_, value)| value.clone())
    };
    let mut rows = String::new();
    for key in keys {
        let row: Vec<String> = tables.iter().map(|table| of(table, key)).collect();
        if row.iter().any(|value| *value != row[0]) {
            let cells: String = row.iter().map(|value| format!("<td class=\"name\">{}</td>", escaped(value))).collect();
            write!(rows, "<tr><td class=\"name\">{}</td>{cells}</tr>", escaped(key)).expect("a string");
        }
    }
    let heads: String = runs.iter().map(|run| format!("<th class=\"name\">{}</th>", escaped(&run.name))).collect();
    let html = if rows.is_empty() {
        "<p>The configs are equal.</p>\n".into()
    } else {
        format!(
            "<div class=\"card\"><div class=\"scroll\"><table><tr><th class=\"name\">key</th>{heads}</tr>{rows}</table></div></div>\n"
        )
    };
    let lead = "Values that differ, defaults included.".into();
    Part { id: "config", heading: "Differences of the configs", lead, html }
}

/// All values of a config by their keys, `section.key`.
fn values(config: &Config) -> Vec<(String, String)> {
    fn collect(prefix: &str, table: &toml::Table, found: &mut Vec<(String, String)>) {
        for (key, value) in table {
            let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            match value {
                toml::Value::Table(table) => collect(&key, table, found),
                value => found.push((key, value.to_string())),
            }
        }
    }
    let table: toml::Table = toml::Table::try_from(config).unwrap_or_default();
    let mut found = Vec::new();
    collect("", &table, &mut found);
    found
}

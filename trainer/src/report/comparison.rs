//! Several runs of one game: how far each has come, shared charts, and how their configs differ.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use turnstone_base::times::duration;

use super::history::{matches, opponents};
use super::live::LiveRun;
use crate::config::Config;
use crate::metrics::{Figure, LEARNING, Quantity, STRENGTH, THROUGHPUT};
use turnstone_arena::page::{Chart, Page, Section, Series, escaped, grouped, title};

/// Number of runs that a chart has colours for.
pub const MOST_RUNS: usize = 6;

/// The sections of a comparison of up to six named runs; further ones are left out.
#[must_use]
pub fn comparison(runs: &[(String, LiveRun)]) -> Vec<Section> {
    let runs = &runs[..runs.len().min(MOST_RUNS)];
    let figures = [STRENGTH, LEARNING, THROUGHPUT].into_iter().flatten().filter(|figure| figure.is_compared);
    let charts = figures.flat_map(|figure| figure.quantities.iter().map(|quantity| chart(runs, figure, quantity)));
    let html = format!("<div class=\"charts\">\n{}</div>\n", charts.collect::<String>());
    let lead = "The x axis counts iterations; runs may differ in the number of games of one.".to_owned();
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

fn game_name(config: &Config) -> &str {
    config.game.get("name").and_then(toml::Value::as_str).unwrap_or_default()
}

/// Progress and results of each run.
fn summary(runs: &[(String, LiveRun)]) -> Section {
    let mut rows = String::new();
    for (name, run) in runs {
        let last = run.history.last();
        let count = |value: Option<u64>| value.map_or_else(|| "-".into(), grouped);
        let seconds: f64 = run.history.iter().map(|iteration| iteration.timing.seconds).sum();
        let time = duration(Duration::try_from_secs_f64(seconds).unwrap_or_default());
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
            escaped(name),
            last.map_or(0, |iteration| iteration.iteration),
            run.config.run.iterations,
            count(last.map(|iteration| iteration.positions)),
            count(last.map(|iteration| iteration.step)),
        )
        .expect("a string");
    }
    let html = format!(
        "<div class=\"card\"><div class=\"scroll\" tabindex=\"0\"><table><tr><th class=\"name\">run</th><th>iterations</th><th>positions</th><th>steps</th><th>time</th><th class=\"name\">ladder</th><th class=\"name\">newest matches</th></tr>{rows}</table></div></div>\n"
    );
    Section { id: "summary", heading: "Summary", lead: String::new(), html }
}

/// One quantity of all runs over the iterations; empty if no run has it.
fn chart(runs: &[(String, LiveRun)], figure: &Figure, &(_, name, value): &Quantity) -> String {
    let &Figure { title, unit, y, note, .. } = figure;
    let title = if figure.quantities.len() > 1 { format!("{title}: {name}") } else { title.to_owned() };
    let scale = if unit == "%" { 100.0 } else { 1.0 };
    let points = |run: &LiveRun| -> Vec<(f64, f64)> {
        run.history.iter().filter_map(|it| Some((it.iteration as f64, scale * value(it)?))).collect()
    };
    let series: Vec<Series> = runs.iter().map(|(name, run)| Series::new(name, points(run).into_iter())).collect();
    let note = note.to_owned();
    Chart { title: &title, unit, x_unit: "iteration", is_stacked: false, x: None, y, series, note }.figure()
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

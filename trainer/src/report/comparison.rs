//! Several runs on the same charts, and how their configs differ.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::live::LiveRun;
use crate::metrics::Metrics;
use turnstone_arena::page::{Chart, Form, Scale, Section, Series, escaped};

/// Number of runs that a chart has colours for.
pub const MOST_RUNS: usize = 6;

/// The sections of a comparison of up to six named runs; further ones are left out.
#[must_use]
pub fn comparison(runs: &[(String, LiveRun)]) -> Vec<Section> {
    let runs = &runs[..runs.len().min(MOST_RUNS)];
    let charts = [
        chart(
            runs,
            "Score",
            "%",
            Some(Scale::fixed(0.0, 100.0, 25.0)),
            "On the ladder, or mean over the opponents.",
            |it| it.mean_score().map(|score| 100.0 * score),
        ),
        chart(runs, "Elo on the ladder", "Elo", None, "Random play has 0.", |it| it.ladder.as_ref().map(|l| l.elo)),
        chart(runs, "Moves that preserve the value", "%", None, "Against exact values.", |it| {
            it.grade.as_ref().map(|grade| 100.0 * grade.all.value())
        }),
        chart(runs, "Policy loss", "nats", None, "Mean over an iteration's steps.", |it| {
            it.loss(|losses| losses.policy_loss)
        }),
        chart(runs, "Value loss", "nats", None, "Mean over an iteration's steps.", |it| {
            it.loss(|losses| losses.value_loss)
        }),
        chart(runs, "Policy divergence", "nats", None, "From the search's policy.", |it| {
            it.loss(|losses| losses.policy_divergence)
        }),
        chart(runs, "Length of games", "plies", None, "Random opening plies included.", |it| it.game_length),
        chart(runs, "Positions", "per second", None, "Of self-play.", |it| it.timing.positions_per_second),
    ];
    let html = format!("<div class=\"charts\">\n{}</div>\n", charts.concat());
    let lead = "The x axis counts iterations; runs may differ in the number of games of one.".to_owned();
    vec![
        Section { id: "curves", heading: "Curves", lead, html },
        Section { id: "differences", heading: "Configs", lead: String::new(), html: differences(runs) },
    ]
}

/// One quantity of all runs over the iterations; empty if no run has it.
fn chart(
    runs: &[(String, LiveRun)],
    title: &str,
    unit: &str,
    y: Option<Scale>,
    note: &str,
    value: impl Fn(&Metrics) -> Option<f64>,
) -> String {
    let points = |run: &LiveRun| -> Vec<(f64, f64)> {
        run.history.iter().filter_map(|it| Some((it.iteration as f64, value(it)?))).collect()
    };
    let series: Vec<Series> = runs.iter().map(|(name, run)| Series::new(name, points(run).into_iter())).collect();
    if series.iter().all(|series| series.points.is_empty()) {
        return String::new();
    }
    Chart { title, unit, x_unit: "iteration", form: Form::Lines, x_range: None, y, series }.figure(note)
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
    use crate::config::Config;

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
        let html = &parts[1].html;
        assert!(html.contains("<code>seed</code></td><td>1</td><td>2</td>"), "{html}");
        assert!(
            html.contains("<code>game.stones</code></td><td>–</td><td>3</td>") && html.contains("a&lt;b"),
            "{html}"
        );
        assert!(!html.contains("learn."), "{html}");
        assert!(comparison(&[runs[0].clone(), runs[0].clone()])[1].html.contains("are the same"));
    }
}

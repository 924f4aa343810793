//! Curves of learning and throughput over the iterations, and the config.

use std::collections::BTreeSet;

use super::history::span;
use crate::config::Config;
use crate::metrics::{Figure, LEARNING, Metrics, Quantity, THROUGHPUT};
use turnstone_arena::page::{Chart, Section, Series, escaped};

/// Losses, schedules, and outcomes and lengths of self-play games.
pub(super) fn learning(history: &[Metrics]) -> Section {
    part("learning", "Learning", &(all(LEARNING, history) + &targets(history)))
}

/// Rates, and the shares of each iteration's time.
pub(super) fn throughput(history: &[Metrics]) -> Section {
    part("throughput", "Throughput", &all(THROUGHPUT, history))
}

fn all(figures: &[Figure], history: &[Metrics]) -> String {
    figures.iter().map(|figure| of_figure(figure, history)).collect()
}

/// The chart of the quantities that are known anywhere; empty if none is. Where one is unknown it has a gap (NaN).
fn of_figure(figure: &Figure, history: &[Metrics]) -> String {
    let &Figure { title, unit, is_stacked, quantities, note, hides_zeros, .. } = figure;
    let whole = |it: &Metrics| quantities.iter().filter_map(|(_, _, value)| value(it)).sum::<f64>().max(1e-9);
    let share = |it: &Metrics, value: f64| match unit {
        "%" if is_stacked => 100.0 * value / whole(it),
        "%" => 100.0 * value,
        _ => value,
    };
    let over = |&(_, name, value): &Quantity| {
        let y = |it: &Metrics| value(it).map_or(f64::NAN, |value| share(it, value));
        Series::new(name, history.iter().map(|it| (it.iteration as f64, y(it))))
    };
    let is_shown = |y: f64| y.is_finite() && !(hides_zeros && y == 0.0);
    let has_any = |series: &Series| series.points.iter().any(|point| is_shown(point.y));
    chart(title, unit, is_stacked, quantities.iter().map(over).filter(has_any).collect(), history, note)
}

/// A chart over the iterations.
fn chart(title: &str, unit: &str, is_stacked: bool, series: Vec<Series>, history: &[Metrics], note: &str) -> String {
    let (x, note) = (span(history), note.to_owned());
    Chart { title, unit, x_unit: "iteration", is_stacked, x, y: None, series, note }.figure()
}

fn part(id: &'static str, heading: &'static str, figures: &str) -> Section {
    Section { id, heading, lead: String::new(), html: format!("<div class=\"charts\">\n{figures}</div>\n") }
}

/// A chart of the loss of each target beside policy and outcome.
fn targets(history: &[Metrics]) -> String {
    let names: BTreeSet<&str> = history
        .iter()
        .filter_map(|it| it.losses.as_ref())
        .flat_map(|it| it.targets.keys().map(|name| &**name))
        .collect();
    let of_target = |name: &str| {
        let loss = |it: &Metrics| it.losses.as_ref()?.targets.get(name).copied();
        let points = history.iter().map(|it| (it.iteration as f64, loss(it).unwrap_or(f64::NAN)));
        let series = vec![Series::new(name, points)];
        let note = "Without its weight, means over an iteration's steps.";
        chart(&format!("Loss of the target {name}"), "", false, series, history, note)
    };
    names.into_iter().map(of_target).collect()
}

/// The config file, and the config with all defaults.
pub(super) fn config(text: &str, config: &Config) -> Section {
    let whole = toml::to_string(config).unwrap_or_default();
    let html = format!(
        "<div class=\"card\"><pre tabindex=\"0\">{}</pre></div>\n<details><summary>with all defaults</summary><div class=\"card\" style=\"margin-top:10px\"><pre tabindex=\"0\">{}</pre></div></details>\n",
        escaped(text),
        escaped(&whole)
    );
    Section { id: "config", heading: "Config", lead: String::new(), html }
}

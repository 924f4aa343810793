//! Curves of learning and throughput over the iterations, and the config.

use std::collections::BTreeSet;

use super::history::span;
use super::overview::STAGES;
use crate::config::Config;
use crate::metrics::Metrics;
use turnstone_arena::page::{Chart, Form, Section, Series, escaped};

/// A chart of some quantities over the iterations.
struct Figure {
    title: &'static str,
    unit: &'static str,
    form: Form,
    series: &'static [Named],
    note: &'static str,
    /// Whether a quantity that is always 0 is left out.
    hides_zeros: bool,
}

/// A quantity and its name.
type Named = (&'static str, fn(&Metrics) -> Option<f64>);

const fn lines(title: &'static str, unit: &'static str, series: &'static [Named], note: &'static str) -> Figure {
    Figure { title, unit, form: Form::Lines, series, note, hides_zeros: false }
}

const LEARNING: [Figure; 8] = [
    lines(
        "Losses",
        "nats",
        &[("policy", |it| it.loss(|losses| losses.policy_loss)), ("value", |it| it.loss(|losses| losses.value_loss))],
        "Cross-entropies of policy and win/draw/loss, means over an iteration's steps.",
    ),
    lines(
        "Policy divergence",
        "nats",
        &[("from the search's policy", |it| it.loss(|losses| losses.policy_divergence))],
        "KL divergence of the network's policy from the targets: policy loss minus the targets' entropy.",
    ),
    lines(
        "Policy entropy",
        "nats",
        &[("of the network", |it| it.loss(|losses| losses.policy_entropy))],
        "Entropy of the network's policy over the legal actions.",
    ),
    Figure {
        title: "Outcomes of self-play",
        unit: "%",
        form: Form::Stacked,
        series: &[
            ("player 1 wins", |it| outcome_share(it, 0)),
            ("draws", |it| outcome_share(it, 1)),
            ("player 2 wins", |it| outcome_share(it, 2)),
        ],
        note: "Shares of each iteration's games.",
        hides_zeros: false,
    },
    lines("Length of games", "plies", &[("mean", |it| it.game_length)], "Random opening plies included."),
    lines("Learning rate", "", &[("AdamW", |it| it.learning_rate)], "At the end of each iteration."),
    lines(
        "Gradient norm",
        "",
        &[("before clipping", |it| it.loss(|losses| losses.gradient_norm))],
        "Over all parameters together, means over an iteration's steps.",
    ),
    lines(
        "Replay window",
        "positions",
        &[("positions", |it| it.window.map(|n| n as f64))],
        "Positions that batches are drawn from.",
    ),
];

const THROUGHPUT: [Figure; 6] = [
    lines(
        "Positions",
        "per second",
        &[("positions/s", |it| it.timing.positions_per_second)],
        "Positions searched per second of self-play.",
    ),
    lines(
        "Evaluations",
        "per second",
        &[("evaluations/s", |it| it.timing.evaluations_per_second)],
        "Positions evaluated by the network per second of self-play.",
    ),
    lines(
        "Batches",
        "positions",
        &[("mean batch", |it| it.timing.mean_batch)],
        "Mean number of positions that the network evaluates together.",
    ),
    Figure {
        title: "Share of time",
        unit: "%",
        form: Form::Stacked,
        series: &[
            (STAGES[0], |it| stage_share(it, 0)),
            (STAGES[1], |it| stage_share(it, 1)),
            (STAGES[2], |it| stage_share(it, 2)),
            (STAGES[3], |it| stage_share(it, 3)),
            (STAGES[4], |it| stage_share(it, 4)),
        ],
        note: "Of each iteration's wall time.",
        hides_zeros: true,
    },
    lines(
        "Idle cores",
        "core seconds",
        &[("waiting", |it| it.timing.idle_core_seconds)],
        "Workers of self-play and of matches that waited for the last one, per iteration.",
    ),
    lines(
        "Time of an iteration",
        "seconds",
        &[("seconds", |it| Some(it.timing.seconds))],
        "Matches make some iterations longer.",
    ),
];

/// Share of games with an outcome, in percent.
fn outcome_share(iteration: &Metrics, outcome: usize) -> Option<f64> {
    iteration.outcome_shares.map(|shares| 100.0 * shares[outcome])
}

/// Share of an iteration's time in a stage, in percent.
fn stage_share(iteration: &Metrics, stage: usize) -> Option<f64> {
    let seconds = iteration.stage_seconds();
    Some(100.0 * seconds[stage] / seconds.iter().sum::<f64>().max(1e-9))
}

/// Losses, schedules, and outcomes and lengths of self-play games.
pub(super) fn learning(history: &[Metrics]) -> Section {
    part("learning", "Learning", &(all(&LEARNING, history) + &targets(history)))
}

/// Rates, and the shares of each iteration's time.
pub(super) fn throughput(history: &[Metrics]) -> Section {
    part("throughput", "Throughput", &all(&THROUGHPUT, history))
}

fn all(figures: &[Figure], history: &[Metrics]) -> String {
    figures.iter().map(|figure| figure.html(history)).collect()
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
    let chart = |name: &str| {
        let loss = |it: &Metrics| it.losses.as_ref()?.targets.get(name).copied();
        let points = history.iter().map(|it| (it.iteration as f64, loss(it).unwrap_or(f64::NAN)));
        let (title, series) = (format!("Loss of the target {name}"), vec![Series::new(name, points)]);
        let chart = Chart {
            title: &title,
            unit: "",
            x_unit: "iteration",
            form: Form::Lines,
            x_range: span(history),
            y: None,
            series,
        };
        chart.figure("Without its weight, means over an iteration's steps.")
    };
    names.into_iter().map(chart).collect()
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

impl Figure {
    /// The chart of the quantities that are known anywhere; empty if none is. Where one is unknown it has a gap (NaN).
    fn html(&self, history: &[Metrics]) -> String {
        let Self { title, unit, form, series, note, hides_zeros } = *self;
        let over = |(name, value): &Named| {
            let points = history.iter().map(|it| (it.iteration as f64, value(it).unwrap_or(f64::NAN)));
            Series::new(name, points)
        };
        let is_shown = |y: f64| y.is_finite() && !(hides_zeros && y == 0.0);
        let has_any = |series: &Series| series.points.iter().any(|point| is_shown(point.y));
        let series: Vec<Series> = series.iter().map(over).filter(has_any).collect();
        if series.is_empty() {
            return String::new();
        }
        Chart { title, unit, x_unit: "iteration", form, x_range: span(history), y: None, series }.figure(note)
    }
}

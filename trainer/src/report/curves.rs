//! Curves of learning and throughput over the iterations, and the config.

use super::history::span;
use super::overview::STAGES;
use crate::config::Config;
use crate::metrics::Metrics;
use turnstone_arena::page::{Chart, Form, Section, Series, escaped};
use turnstone_models::StepReport;

/// Losses, schedules, and outcomes and lengths of self-play games.
// long because it is a list of charts
pub(super) fn learning(history: &[Metrics]) -> Section {
    let loss = |loss: fn(&StepReport) -> f64| over(history, move |iteration| iteration.loss(loss));
    let outcome = |i: usize| over(history, move |it| it.outcome_shares.map(|shares| 100.0 * shares[i]));
    let lines = |title, unit, series, note| curves(history, Form::Lines, title, unit, series, note);
    let html = [
        lines(
            "Losses",
            "nats",
            vec![("policy", loss(|losses| losses.policy_loss)), ("value", loss(|losses| losses.value_loss))],
            "Cross-entropies of policy and win/draw/loss, means over an iteration's steps.",
        ),
        lines(
            "Policy divergence",
            "nats",
            vec![("from the search's policy", loss(|losses| losses.policy_divergence))],
            "KL divergence of the network's policy from the targets: policy loss minus the targets' entropy.",
        ),
        lines(
            "Policy entropy",
            "nats",
            vec![("of the network", loss(|losses| losses.policy_entropy))],
            "Entropy of the network's policy over the legal actions.",
        ),
        curves(
            history,
            Form::Stacked,
            "Outcomes of self-play",
            "%",
            vec![("player 1 wins", outcome(0)), ("draws", outcome(1)), ("player 2 wins", outcome(2))],
            "Shares of each iteration's games.",
        ),
        lines(
            "Length of games",
            "plies",
            vec![("mean", over(history, |it| it.game_length))],
            "Random opening plies included.",
        ),
        lines(
            "Learning rate",
            "",
            vec![("AdamW", over(history, |it| it.learning_rate))],
            "At the end of each iteration.",
        ),
        lines(
            "Gradient norm",
            "",
            vec![("before clipping", loss(|losses| losses.gradient_norm))],
            "Over all parameters together, means over an iteration's steps.",
        ),
        lines(
            "Replay window",
            "positions",
            vec![("positions", over(history, |it| it.window.map(|n| n as f64)))],
            "Positions that batches are drawn from.",
        ),
    ];
    Section { id: "learning", heading: "Learning", lead: String::new(), html: charts(&html) }
}

/// Rates, and the shares of each iteration's time.
// long because it is a list of charts
pub(super) fn throughput(history: &[Metrics]) -> Section {
    let stage = |i: usize| {
        over(history, move |it| {
            let seconds = it.stage_seconds();
            Some(100.0 * seconds[i] / seconds.iter().sum::<f64>().max(1e-9))
        })
    };
    let any = |values: &Values| values.iter().any(|&(_, share)| share > 0.0);
    let lines = |title, unit, name, values, note| curves(history, Form::Lines, title, unit, vec![(name, values)], note);
    let html = [
        lines(
            "Positions",
            "per second",
            "positions/s",
            over(history, |it| it.timing.positions_per_second),
            "Positions searched per second of self-play.",
        ),
        lines(
            "Evaluations",
            "per second",
            "evaluations/s",
            over(history, |it| it.timing.evaluations_per_second),
            "Positions evaluated by the network per second of self-play.",
        ),
        lines(
            "Batches",
            "positions",
            "mean batch",
            over(history, |it| it.timing.mean_batch),
            "Mean number of positions that the network evaluates together.",
        ),
        curves(
            history,
            Form::Stacked,
            "Share of time",
            "%",
            STAGES.iter().copied().zip((0..5).map(stage)).filter(|(_, values)| any(values)).collect(),
            "Of each iteration's wall time.",
        ),
        lines(
            "Idle cores",
            "core seconds",
            "waiting",
            over(history, |it| it.timing.idle_core_seconds),
            "Workers of self-play and of matches that waited for the last one, per iteration.",
        ),
        lines(
            "Time of an iteration",
            "seconds",
            "seconds",
            over(history, |it| Some(it.timing.seconds)),
            "Matches make some iterations longer.",
        ),
    ];
    Section { id: "throughput", heading: "Throughput", lead: String::new(), html: charts(&html) }
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

fn charts(figures: &[String]) -> String {
    format!("<div class=\"charts\">\n{}</div>\n", figures.concat())
}

type Values = Vec<(f64, f64)>;

/// The points of a quantity over the iterations; NaN, drawn as a gap, where it is unknown.
fn over(history: &[Metrics], value: impl Fn(&Metrics) -> Option<f64>) -> Values {
    history.iter().map(|iteration| (iteration.iteration as f64, value(iteration).unwrap_or(f64::NAN))).collect()
}

/// A chart of those series over the iterations that have any finite value. Empty if none has.
fn curves(history: &[Metrics], form: Form, title: &str, unit: &str, values: Vec<(&str, Values)>, note: &str) -> String {
    let finite = values.into_iter().filter(|(_, values)| values.iter().any(|(_, y)| y.is_finite()));
    let series: Vec<_> = finite.map(|(name, values)| Series::new(name, values.into_iter())).collect();
    if series.is_empty() {
        return String::new();
    }
    let x_range = span(history);
    Chart { title, unit, x_unit: "iteration", form, x_range, y: None, series }.figure(note)
}

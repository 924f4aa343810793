//! The parts of the page that tell of figures: headline, strength, truth, learning, throughput, config.

use std::fmt::Write;
use std::time::Duration;

use super::chart::{Chart, Form, Point, Series};
use super::history::{Iteration, Match};
use super::page::{Part, escaped};
use super::scale::{Scale, short};
use crate::config::Config;
use crate::grading::{Grade, Share};
use crate::progress::duration;

/// The stages of an iteration.
const STAGES: [&str; 3] = ["self-play", "learning", "matches and files"];

/// The heading: what was trained, how far it is, and what it can do.
pub(super) fn header(game: &str, params: &str, network: &str, config: &Config, history: &[Iteration]) -> String {
    let (done, planned) = (history.last().map_or(0, |last| last.iteration), config.run.iterations);
    let pill = if done >= planned {
        r#"<span class="pill">finished</span>"#.to_owned()
    } else {
        format!(r#"<span class="pill open">iteration {done} of {planned}: running or interrupted</span>"#)
    };
    let (game, params, network) = (escaped(game), escaped(params), escaped(network));
    let (results, state) = (headline(history), standing(config, history));
    format!(
        r#"<p class="brand">Turnstone · training run</p>
<h1>{game} {pill}</h1>
<p class="sub">{network}, seed {}<br>{params}</p>
{results}{state}"#,
        config.seed
    )
}

/// The newest match against each opponent in large figures, beside the checkpoint that scored best.
fn headline(history: &[Iteration]) -> String {
    let best = best(history);
    let mut tiles = String::new();
    for opponent in opponents(history) {
        let (iteration, result) = matches(history, &opponent).last().expect("an opponent comes from a match");
        let [low, high] = result.score_interval.map(|end| 100.0 * end);
        let mut compared = String::new();
        if let Some(best) = best.filter(|best| best.iteration != iteration.iteration)
            && let Some(then) = best.arena.iter().find(|result| result.opponent == opponent)
        {
            let (score, games) = (100.0 * then.score, then.games());
            compared =
                format!("<span>best.safetensors (iteration {}): {score:.1} % of {games} games</span>", best.iteration);
        }
        write!(
            tiles,
            r#"<div class="tile"><span class="against">against {}</span><b>{:.1} %</b><span>95 % interval {low:.1} to {high:.1} %, Elo {}</span><span>latest.safetensors (iteration {}), {} games</span>{compared}</div>"#,
            escaped(&opponent),
            100.0 * result.score,
            elo_text(result),
            iteration.iteration,
            result.games()
        )
        .expect("a string");
    }
    if tiles.is_empty() { tiles } else { format!("<div class=\"tiles headline\">{tiles}</div>\n") }
}

/// Counts of the whole run and where its time went.
fn standing(config: &Config, history: &[Iteration]) -> String {
    let Some(last) = history.last() else {
        return "<p class=\"lead\">No iteration has been finished yet.</p>\n".into();
    };
    let stages =
        history.iter().map(Iteration::stage_seconds).fold([0.0; 3], |sum, s| std::array::from_fn(|i| sum[i] + s[i]));
    let whole: f64 = stages.iter().sum();
    let rate = last.positions as f64 / stages[0].max(1e-9);
    let tile = |figure: String, what: &str| format!("<div class=\"tile\"><b>{figure}</b><span>{what}</span></div>");
    let tiles = [
        tile(format!("{} / {}", last.iteration, config.run.iterations), "iterations"),
        tile(grouped(last.games), "games of self-play"),
        tile(grouped(last.positions), "positions"),
        tile(grouped(last.step), "learner steps"),
        tile(seconds(whole), "wall time of the finished iterations"),
        tile(short(rate), "positions per second of self-play"),
    ];
    let (mut bar, mut legend) = (String::new(), String::new());
    for ((name, time), colour) in STAGES.iter().zip(stages).zip(1..) {
        let share = 100.0 * time / whole.max(1e-9);
        write!(bar, r#"<i class="c{colour}" style="width:{share:.2}%"></i>"#).expect("a string");
        write!(legend, r#"<li><i class="c{colour}"></i>{name} <b>{}</b> ({share:.0} %)</li>"#, seconds(time))
            .expect("a string");
    }
    format!(
        "<div class=\"tiles\">{}</div>\n<div class=\"stacked\"><div class=\"bar\" style=\"margin-top:1rem\">{bar}</div><ul class=\"legend\">{legend}</ul></div>\n",
        tiles.concat()
    )
}

/// Score and Elo against every opponent over the run.
pub(super) fn strength(config: &Config, history: &[Iteration]) -> Part {
    let (names, x_range) = (opponents(history), whole_run(history));
    let series = |point: fn(u64, &Match) -> Point| {
        let of = |name| matches(history, name).map(|(iteration, result)| point(iteration.iteration, result)).collect();
        names.iter().map(|name| Series { name, points: of(name) }).collect::<Vec<_>>()
    };
    let score = |x: u64, result: &Match| {
        let interval = Some(result.score_interval.map(|end| 100.0 * end));
        Point { x: x as f64, y: 100.0 * result.score, interval }
    };
    let elo = |x: u64, result: &Match| Point { x: x as f64, y: result.elo(), interval: Some(result.elo_interval()) };
    let chart =
        |title, unit, y, series| Chart { title, unit, x_unit: "iteration", form: Form::Lines, x_range, y, series };
    let html = if names.is_empty() {
        let first =
            if config.arena.every == 0 { config.run.iterations } else { config.arena.every.min(config.run.iterations) };
        format!("<p>No match has been played yet; the first one comes after iteration {first}.</p>\n")
    } else {
        let scores = chart("Score", "%", Some(Scale::fixed(0.0, 100.0, 25.0)), series(score));
        let elos = chart("Elo difference", "Elo", None, series(elo));
        format!(
            "<div class=\"charts\">{}{}{}</div>\n",
            scores.figure(
                "Wins and half the draws; the band is the 95 % interval from the variance between pairs of games."
            ),
            elos.figure(
                "400 log10(s / (1 − s)). A triangle marks a match won throughout: Elo is at least there, at 95 %."
            ),
            match_table(&names, history)
        )
    };
    let lead = format!(
        "Matches of the averaged weights at {} simulations per move, from random openings of {} to {} plies, each played from both seats.",
        config.arena.simulations, config.arena.opening_plies[0], config.arena.opening_plies[1]
    );
    Part { id: "strength", heading: "Strength", lead, html }
}

/// The newest match against each opponent, seat by seat.
fn match_table(names: &[String], history: &[Iteration]) -> String {
    let mut rows = String::new();
    for name in names {
        let (iteration, result) = matches(history, name).last().expect("an opponent comes from a match");
        let [first, second] = [result.by_seat.first, result.by_seat.second]
            .map(|seat| format!("{} – {} – {}", seat.wins, seat.draws, seat.losses));
        let (name, number) = (escaped(name), iteration.iteration);
        write!(
            rows,
            "<tr><td>{name}<br><span class=\"sub\">iteration {number}</span></td><td>{first}</td><td>{second}</td></tr>"
        )
        .expect("a string");
    }
    format!(
        "<div class=\"card scroll\"><table><tr><th>newest match against</th><th>as player 1</th><th>as player 2</th></tr>{rows}</table><p class=\"note\">Games won – drawn – lost.</p></div>\n"
    )
}

/// The grade against the exact truth, and how it developed if the metrics tell. `how` says what was graded.
pub(super) fn truth(grade: &Grade, how: String, history: &[Iteration]) -> Part {
    let mut rows = String::new();
    let mut row = |name: &str, share: &Share| {
        let (value, [low, high]) = (100.0 * share.value(), share.interval.map(|end| 100.0 * end));
        write!(
            rows,
            r#"<tr><td>{}</td><td><span class="range"><i style="left:{low:.1}%;width:{:.1}%"></i><u style="left:{value:.1}%"></u></span></td><td>{value:.1} % [{low:.1}, {high:.1}]</td><td>{}</td><td>{}</td></tr>"#,
            escaped(name),
            high - low,
            share.kept,
            share.positions
        )
        .expect("a string");
    };
    row("all positions", &grade.all);
    row("critical", &grade.critical);
    for phase in ["opening", "midgame", "endgame"].iter().filter(|_| grade.phases.len() > 1) {
        if let Some([all, critical]) = grade.phases.get(*phase) {
            row(phase, all);
            row(&format!("{phase}, critical"), critical);
        }
    }
    if let Some(head) = &grade.value_head {
        row("value head alone is right", &head.accuracy);
    }
    let [regret, low, high] = grade.regret;
    let mut notes =
        format!("Mean regret {regret:.4} [{low:.4}, {high:.4}], where a win is worth 1, a draw 0, a loss −1.");
    if let Some(head) = &grade.value_head {
        let (brier, error) = (head.brier, head.calibration_error);
        write!(notes, " Value head without search: Brier score {brier:.3}, calibration error {error:.3}.")
            .expect("a string");
    }
    let mut html = format!(
        "<div class=\"card\"><div class=\"scroll\"><table><tr><th>moves that keep the value</th><th></th><th>share</th><th>kept</th><th>positions</th></tr>{rows}</table></div><p class=\"note\">Critical: at least one legal move loses value. {notes}</p></div>\n"
    );
    let graded = history.iter().filter(|iteration| iteration.grade.is_some()).count();
    if graded > 1 {
        let over_time = grade_chart(history);
        html += &format!("<div class=\"charts\" style=\"margin-top:14px\">{over_time}</div>\n");
    }
    Part { id: "truth", heading: "Against the exact truth", lead: how, html }
}

fn grade_chart(history: &[Iteration]) -> String {
    let series = |name, share: fn(&Grade) -> Share| {
        let point = |iteration: &Iteration| {
            let share = share(iteration.grade.as_ref()?);
            let interval = Some(share.interval.map(|end| 100.0 * end));
            Some(Point { x: iteration.iteration as f64, y: 100.0 * share.value(), interval })
        };
        Series { name, points: history.iter().filter_map(point).collect() }
    };
    let series = vec![series("all positions", |grade| grade.all), series("critical", |grade| grade.critical)];
    let x_range = whole_run(history);
    let chart = Chart {
        title: "Moves that keep the value",
        unit: "%",
        x_unit: "iteration",
        form: Form::Lines,
        x_range,
        y: None,
        series,
    };
    chart.figure("Measured during the run; the band is the 95 % interval.")
}

/// Losses, schedules and what self-play looks like.
pub(super) fn learning(history: &[Iteration]) -> Part {
    let loss = |name: &'static str| over(history, move |iteration| iteration.loss(name));
    let outcome = |i: usize| over(history, move |it| it.outcome_shares.map(|shares| 100.0 * shares[i]));
    let lines = |title, unit, series, note| curves(history, Form::Lines, title, unit, series, note);
    let html = [
        lines(
            "Losses",
            "nats",
            vec![("policy", loss("policy_loss")), ("value", loss("value_loss"))],
            "Cross-entropies of policy and win/draw/loss, means over an iteration's steps.",
        ),
        lines(
            "Policy divergence",
            "nats",
            vec![("from the search's policy", loss("policy_divergence"))],
            "Policy loss less the targets' own entropy: what the network could still learn from the search.",
        ),
        lines(
            "Policy entropy",
            "nats",
            vec![("of the network", loss("policy_entropy"))],
            "How undecided the network is among the legal actions.",
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
            vec![("before clipping", loss("gradient_norm"))],
            "Over all parameters together, means over an iteration's steps.",
        ),
        lines(
            "Replay window",
            "positions",
            vec![("positions", over(history, |it| it.window.map(|n| n as f64)))],
            "Positions that batches are drawn from.",
        ),
    ];
    Part { id: "learning", heading: "Learning", lead: String::new(), html: charts(&html) }
}

/// Rates, and where each iteration's time went.
pub(super) fn throughput(history: &[Iteration]) -> Part {
    let stage = |i: usize| {
        over(history, move |it| {
            let seconds = it.stage_seconds();
            Some(100.0 * seconds[i] / seconds.iter().sum::<f64>().max(1e-9))
        })
    };
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
            "Positions that the network evaluates together, a mean.",
        ),
        curves(
            history,
            Form::Stacked,
            "Share of time",
            "%",
            STAGES.iter().copied().zip((0..3).map(stage)).collect(),
            "Of each iteration's wall time.",
        ),
        lines(
            "Time of an iteration",
            "seconds",
            "seconds",
            over(history, |it| Some(it.timing.seconds)),
            "Matches make some iterations longer.",
        ),
    ];
    Part { id: "throughput", heading: "Throughput", lead: String::new(), html: charts(&html) }
}

/// The config as it was given, and with its defaults.
pub(super) fn config(text: &str, config: &Config) -> Part {
    let whole = toml::to_string(config).unwrap_or_default();
    let html = format!(
        "<div class=\"card\"><pre>{}</pre></div>\n<details><summary>with all defaults</summary><div class=\"card\" style=\"margin-top:10px\"><pre>{}</pre></div></details>\n",
        escaped(text),
        escaped(&whole)
    );
    Part { id: "config", heading: "Config", lead: String::new(), html }
}

fn charts(figures: &[String]) -> String {
    format!("<div class=\"charts\">\n{}</div>\n", figures.concat())
}

type Values = Vec<(f64, f64)>;

/// A figure over the iterations; where it is unknown there is a gap.
fn over(history: &[Iteration], value: impl Fn(&Iteration) -> Option<f64>) -> Values {
    history.iter().map(|iteration| (iteration.iteration as f64, value(iteration).unwrap_or(f64::NAN))).collect()
}

/// A chart over the iterations; nothing if the metrics do not tell any of its values.
fn curves(
    history: &[Iteration],
    form: Form,
    title: &str,
    unit: &str,
    values: Vec<(&str, Values)>,
    note: &str,
) -> String {
    if !values.iter().flat_map(|(_, values)| values).any(|(_, y)| y.is_finite()) {
        return String::new();
    }
    let series = values.into_iter().map(|(name, values)| Series::new(name, values.into_iter())).collect();
    let x_range = whole_run(history);
    Chart { title, unit, x_unit: "iteration", form, x_range, y: None, series }.figure(note)
}

fn whole_run(history: &[Iteration]) -> Option<[f64; 2]> {
    Some([history.first()?.iteration as f64, history.last()?.iteration as f64])
}

/// The opponents of all matches, in the order in which they came up.
fn opponents(history: &[Iteration]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for result in history.iter().flat_map(|iteration| &iteration.arena) {
        if !names.contains(&result.opponent) {
            names.push(result.opponent.clone());
        }
    }
    names
}

fn matches<'a>(history: &'a [Iteration], opponent: &'a str) -> impl Iterator<Item = (&'a Iteration, &'a Match)> {
    history.iter().flat_map(move |iteration| {
        iteration.arena.iter().filter(move |result| result.opponent == opponent).map(move |result| (iteration, result))
    })
}

/// The iteration whose checkpoint is `best.safetensors`: the greatest mean score, the later of equals.
fn best(history: &[Iteration]) -> Option<&Iteration> {
    let scored = history.iter().filter_map(|iteration| Some((iteration, iteration.mean_score()?)));
    scored.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(iteration, _)| iteration)
}

fn elo_text(result: &Match) -> String {
    let text = |elo: f64| if elo.is_finite() { format!("{elo:+.0}").replace('-', "−") } else { short(elo) };
    let [low, high] = result.elo_interval();
    format!("{} [{}, {}]", text(result.elo()), text(low), text(high))
}

fn seconds(time: f64) -> String {
    duration(Duration::try_from_secs_f64(time).unwrap_or_default())
}

/// A count with its digits in groups of three.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join("\u{202f}")
}

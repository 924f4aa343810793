//! Strength over the run: matches, and grades against exact values.

use std::fmt::Write;

use super::history::{matches, opponents, span};
use crate::config::Config;
use crate::metrics::{MatchMetrics, Metrics};
use turnstone_arena::grading::{Grade, Share};
use turnstone_arena::page::{Chart, PERCENT, Point, Section, Series, escaped, signed};

/// Score and Elo against every opponent over the run.
pub(super) fn strength(config: &Config, history: &[Metrics]) -> Section {
    let figures = [of_matches(history), of_checkpoints(history)].concat();
    let arena = &config.arena;
    let html = if figures.is_empty() {
        let first = if arena.every == 0 { config.run.iterations } else { arena.every.min(config.run.iterations) };
        format!("<p>No match has been played yet; the first one comes after iteration {first}.</p>\n")
    } else {
        format!("<div class=\"charts\">{figures}</div>\n")
    };
    let [fewest, most] = arena.opening_plies;
    let lead = format!(
        "Matches of the averaged weights at {} simulations per move, from random openings of {fewest} to {most} plies, each played from both seats.",
        arena.simulations
    );
    Section { id: "strength", heading: "Strength", lead, html }
}

/// Charts and table of the matches against the config's opponents; empty if there were none.
fn of_matches(history: &[Metrics]) -> String {
    let names = opponents(history);
    if names.is_empty() {
        return String::new();
    }
    let series = |point: fn(u64, &MatchMetrics) -> Point| {
        let of = |name| matches(history, name).map(|(iteration, result)| point(iteration.iteration, result)).collect();
        names.iter().map(|name| Series { name, points: of(name) }).collect::<Vec<_>>()
    };
    let elo =
        |x: u64, result: &MatchMetrics| Point { x: x as f64, y: result.elo(), interval: Some(result.elo_interval()) };
    let note = "Wins and half the draws; the band is the 95 % interval, from pairs of games.";
    let scores = chart(history, "Score", "%", Some(PERCENT), series(score), note);
    let note = "400 log10(s / (1 − s)). A triangle marks the known end of the interval if every game was won.";
    let elos = chart(history, "Elo difference", "Elo", None, series(elo), note);
    scores + &elos + &match_table(&names, history)
}

/// Charts of the ladder and of the matches against the best checkpoint; empty if there were none.
fn of_checkpoints(history: &[Metrics]) -> String {
    let on_ladder = |it: &Metrics| {
        let ladder = it.ladder.as_ref()?;
        Some(Point { x: it.iteration as f64, y: ladder.elo, interval: Some(ladder.interval) })
    };
    let of = |point: &dyn Fn(&Metrics) -> Option<Point>| {
        vec![Series { name: "checkpoint", points: history.iter().filter_map(point).collect() }]
    };
    let note = "From games against every rung of the game's ladder, where random play has 0.";
    let ladder = chart(history, "Elo on the ladder", "Elo", None, of(&on_ladder), note);
    let against_best = of(&|it| Some(score(it.iteration, it.previous_best.as_ref()?)));
    let note = "Against the best checkpoint of earlier iterations.";
    ladder + &chart(history, "Score against the best so far", "%", Some(PERCENT), against_best, note)
}

/// A chart over the iterations; empty without points.
fn chart(history: &[Metrics], title: &str, unit: &str, y: Option<[f64; 3]>, series: Vec<Series>, note: &str) -> String {
    let (x, note) = (span(history), note.to_owned());
    Chart { title, unit, x_unit: "iteration", is_stacked: false, x, y, series, note }.figure()
}

fn score(x: u64, result: &MatchMetrics) -> Point {
    let interval = Some(result.score_interval.map(|end| 100.0 * end));
    Point { x: x as f64, y: 100.0 * result.score, interval }
}

/// Table of the newest match against each opponent by seat.
fn match_table(names: &[String], history: &[Metrics]) -> String {
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
        "<div class=\"card scroll\" tabindex=\"0\"><table><tr><th>against</th><th>as player 1</th><th>as player 2</th></tr>{rows}</table><p class=\"note\">Games won – drawn – lost.</p></div>\n"
    )
}

/// The grade against exact values and, if the metrics contain several, a chart of them. `how` says what was graded.
pub(super) fn truth(grade: &Grade, how: String, history: &[Metrics]) -> Section {
    let mut html = format!(
        "<div class=\"card\"><div class=\"scroll\" tabindex=\"0\"><table><tr><th>moves that preserve the value</th><th></th><th>share</th><th>kept</th><th>positions</th></tr>{}</table></div><p class=\"note\">Critical: at least one legal move loses value. {}</p></div>\n",
        grade_rows(grade),
        grade_notes(grade)
    );
    let graded = history.iter().filter(|iteration| iteration.grade.is_some()).count();
    if graded > 1 {
        let over_time = grade_chart(history);
        html += &format!("<div class=\"charts\" style=\"margin-top:14px\">{over_time}</div>\n");
    }
    Section { id: "truth", heading: "Moves against exact values", lead: how, html }
}

/// A row for each group of positions.
fn grade_rows(grade: &Grade) -> String {
    let mut groups = vec![("all positions".to_owned(), &grade.all), ("critical".to_owned(), &grade.critical)];
    for phase in ["opening", "midgame", "endgame"].iter().filter(|_| grade.phases.len() > 1) {
        if let Some([all, critical]) = grade.phases.get(*phase) {
            groups.extend([((*phase).to_owned(), all), (format!("{phase}, critical"), critical)]);
        }
    }
    let head = grade.value_head.as_ref();
    groups.extend(head.map(|head| ("value head without search".to_owned(), &head.accuracy)));
    let row = |(name, share): &(String, &Share)| {
        let (value, [low, high]) = (100.0 * share.value(), share.interval.map(|end| 100.0 * end));
        format!(
            r#"<tr><td>{}</td><td><span class="range"><i style="left:{low:.1}%;width:{:.1}%"></i><u style="left:{value:.1}%"></u></span></td><td>{value:.1} % [{low:.1}, {high:.1}]</td><td>{}</td><td>{}</td></tr>"#,
            escaped(name),
            high - low,
            share.kept,
            share.positions
        )
    };
    groups.iter().map(row).collect()
}

fn grade_notes(grade: &Grade) -> String {
    let [regret, low, high] = grade.regret;
    let mut notes =
        format!("Mean regret {regret:.4} [{low:.4}, {high:.4}], where a win counts 1, a draw 0, a loss −1.");
    if let Some(head) = &grade.value_head {
        let (brier, error) = (head.brier, head.calibration_error);
        write!(notes, " Value head without search: Brier score {brier:.3}, calibration error {error:.3}.")
            .expect("a string");
    }
    notes
}

fn grade_chart(history: &[Metrics]) -> String {
    let series = |name, share: fn(&Grade) -> Share| {
        let point = |iteration: &Metrics| {
            let share = share(iteration.grade.as_ref()?);
            let interval = Some(share.interval.map(|end| 100.0 * end));
            Some(Point { x: iteration.iteration as f64, y: 100.0 * share.value(), interval })
        };
        Series { name, points: history.iter().filter_map(point).collect() }
    };
    let series = vec![series("all positions", |grade| grade.all), series("critical", |grade| grade.critical)];
    let note = "Measured during the run; the band is the 95 % interval.";
    chart(history, "Moves that preserve the value", "%", None, series, note)
}

/// Formats the Elo difference with its interval; an infinite one as a bound, the finite end of the interval.
pub(super) fn elo_text(result: &MatchMetrics) -> String {
    let [low, high] = result.elo_interval();
    match result.elo() {
        f64::INFINITY => format!("above {}", signed(low)),
        f64::NEG_INFINITY => format!("below {}", signed(high)),
        elo => format!("{} [{}, {}]", signed(elo), signed(low), signed(high)),
    }
}

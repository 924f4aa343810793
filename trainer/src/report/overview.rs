//! Header of the page: game and network, progress, newest results, and shares of the time.

use std::fmt::Write;
use std::time::Duration;

use super::history::{best, matches, opponents};
use super::strength::elo_text;
use crate::config::Config;
use crate::metrics::Metrics;
use turnstone_arena::page::{escaped, grouped};
use turnstone_base::times::duration;

/// The header of the page. `training` says whether a process holds the run's lock, if that is known, and `left` the time that
/// it takes.
pub(super) fn header(
    game: &str,
    params: &str,
    network: &str,
    config: &Config,
    history: &[Metrics],
    training: Option<bool>,
    left: Option<Duration>,
) -> String {
    let (done, planned) = (history.last().map_or(0, |last| last.iteration), config.run.iterations);
    let pill = if done >= planned {
        r#"<span class="pill">finished</span>"#.to_owned()
    } else {
        let state = match training {
            Some(true) => "running",
            Some(false) => "interrupted",
            None => "running or interrupted",
        };
        let left = left.map(|left| format!(", {} left", duration(left))).unwrap_or_default();
        format!(r#"<span class="pill open">iteration {done} of {planned}: {state}{left}</span>"#)
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

/// One tile per opponent with the newest match, and that of the best checkpoint if it is another.
fn headline(history: &[Metrics]) -> String {
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

/// Totals of the run and the shares of its stages in the time.
fn standing(config: &Config, history: &[Metrics]) -> String {
    let Some(last) = history.last() else {
        return "<p class=\"lead\">No iteration has been finished yet.</p>\n".into();
    };
    let stages =
        history.iter().map(Metrics::stage_seconds).fold([0.0; 5], |sum, s| std::array::from_fn(|i| sum[i] + s[i]));
    let whole: f64 = stages.iter().sum();
    let rate = last.positions as f64 / stages[0].max(1e-9);
    let tile = |figure: String, what: &str| format!("<div class=\"tile\"><b>{figure}</b><span>{what}</span></div>");
    let tiles = [
        tile(format!("{} / {}", last.iteration, config.run.iterations), "iterations"),
        tile(grouped(last.games), "games of self-play"),
        tile(grouped(last.positions), "positions"),
        tile(grouped(last.step), "learner steps"),
        tile(seconds(whole), "wall time of the finished iterations"),
        tile(grouped(rate.round() as u64), "positions per second of self-play"),
    ];
    let (mut bar, mut legend) = (String::new(), String::new());
    for ((name, time), colour) in Metrics::STAGES.iter().zip(stages).filter(|(_, time)| *time > 0.0).zip(1..) {
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

fn seconds(time: f64) -> String {
    duration(Duration::try_from_secs_f64(time).unwrap_or_default())
}

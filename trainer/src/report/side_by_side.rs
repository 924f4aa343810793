//! Several runs of one game as one self-contained page: how far each has come, shared charts, differences of configs.

use std::fmt::Write;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use turnstone_base::times::duration;

use super::comparison::{MOST_RUNS, comparison};
use super::history::{matches, opponents};
use super::live::LiveRun;
use crate::config::Config;
use turnstone_arena::page::{Page, Section, escaped, grouped, title};

/// Returns the HTML page of two or more named runs.
///
/// # Errors
/// The runs are too many or of different games.
pub fn side_by_side(runs: &[(String, LiveRun)]) -> Result<String> {
    ensure!(!runs.is_empty() && runs.len() <= MOST_RUNS, "1 to {MOST_RUNS} runs can be compared, not {}", runs.len());
    let (first, game) = (&runs[0].0, game_name(&runs[0].1.config));
    if let Some((name, run)) = runs.iter().find(|(_, run)| game_name(&run.config) != game) {
        let second = game_name(&run.config);
        bail!("{first} is a run of {game} and {name} one of {second}: only runs of one game are compared");
    }
    let mut parts = vec![summary(runs)];
    parts.extend(comparison(runs));
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

/// How far each run has come and what it has reached.
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

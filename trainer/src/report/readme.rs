//! What the README of an exported agent says about its run: strength and training, in Markdown.

use std::time::Duration;

use turnstone_arena::grading::Share;
use turnstone_base::times::duration;

use super::LiveRun;
use super::history::{matches, opponents};
use crate::metrics::Metrics;
use crate::run_folder::Provenance;

/// The sections on a run: its newest results with 95 % intervals, and how it was trained.
#[must_use]
pub fn readme_sections(run: &LiveRun, provenance: &[Provenance]) -> String {
    strength(&run.history) + &training(run, provenance)
}

fn strength(history: &[Metrics]) -> String {
    let mut rows = String::new();
    let mut add = |against: &str, measure: &str, result: String, iteration: &Metrics| {
        rows += &row(&[against, measure, &result, &iteration.iteration.to_string()]);
    };
    for opponent in opponents(history) {
        if let Some((iteration, result)) = matches(history, &opponent).last() {
            let against = format!("{opponent}, {} games", result.games());
            add(&against, "score", percent(result.score, result.score_interval), iteration);
        }
    }
    if let Some((iteration, ladder)) = history.iter().rev().find_map(|line| Some((line, line.ladder.as_ref()?))) {
        let [low, high] = ladder.interval;
        let result = format!("Elo {:.0} [{low:.0}, {high:.0}]", ladder.elo);
        add(&format!("the game's ladder, {} games", ladder.games), "rating", result, iteration);
    }
    if let Some((iteration, grade)) = history.iter().rev().find_map(|line| Some((line, line.grade.as_ref()?))) {
        let mut share = |measure: &str, share: &Share| {
            let against = format!("exact values, {} positions", share.positions);
            add(&against, measure, percent(share.value(), share.interval), iteration);
        };
        share("moves that preserve the value", &grade.all);
        share("the same where some move loses it", &grade.critical);
    }
    if rows.is_empty() {
        return "## Strength\n\nNot measured.\n\n".to_owned();
    }
    format!(
        "## Strength\n\nWith 95 % intervals.\n\n| against | measure | result | iteration |\n|---|---|---|---|\n{rows}\n"
    )
}

fn training(run: &LiveRun, provenance: &[Provenance]) -> String {
    let mut text = format!("## Training\n\nSeed {}, {} iterations planned", run.config.seed, run.config.run.iterations);
    if let Some(last) = run.history.last() {
        let seconds = run.history.iter().map(|iteration| iteration.timing.seconds).sum();
        let time = duration(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        text += &format!(
            "; {} done with {} games of self-play, {} positions and {} learner steps in {time}",
            last.iteration, last.games, last.positions, last.step
        );
    }
    text += ".\n\n";
    if !provenance.is_empty() {
        text += "| from iteration | program | config | devices | initial network |\n|---|---|---|---|---|\n";
        for line in provenance {
            let or = |text: &str, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text.to_owned() };
            let (devices, from) = (or(&line.devices, "processor"), or(&line.from, "random weights"));
            text += &row(&[&line.iteration.to_string(), &line.program, &format!("`{}`", line.config), &devices, &from]);
        }
        text.push('\n');
    }
    // A fence longer than any in the config.
    let fence = "`".repeat(1 + run.text.split(|c| c != '`').map(str::len).max().unwrap_or(0).max(2));
    text + &format!("{fence}toml\n{}\n{fence}\n\n", run.text.trim_end())
}

/// `96.8 % [94.7, 98.2]`.
fn percent(share: f64, [low, high]: [f64; 2]) -> String {
    format!("{:.1} % [{:.1}, {:.1}]", 100.0 * share, 100.0 * low, 100.0 * high)
}

/// A row of a table.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    format!("| {} |\n", cells.join(" | "))
}

//! A review as text for a terminal of 80 columns.

use std::fmt::Write;

use super::record::Review;
use turnstone_agents::review::{Mark, ReviewedMove, Source};

/// Width of a terminal.
const WIDTH: usize = 80;
/// Columns of the graph.
const COLUMNS: usize = 70;
/// Rows of the graph above the middle, and below it.
const ROWS: usize = 3;
/// Maximum width of a move in the table.
const LONGEST_MOVE: usize = 18;

impl Review {
    /// The review as text. `play_on` names the command that plays on from the position after this many plies.
    #[must_use]
    pub fn text(&self, play_on: &dyn Fn(usize) -> String) -> String {
        let mut text = String::new();
        let [first, second] = &self.players;
        if !first.is_empty() || !second.is_empty() {
            line(&mut text, &format!("{}: {first} against {second}", self.game));
        }
        line(&mut text, &format!("{} moves, {}", self.moves.len(), self.ending));
        let certain = self.moves.iter().filter(|played| played.source != Source::Search).count();
        line(&mut text, &format!("reviewed by {}, {certain} moves by exact values or proofs", self.agent));
        text += &self.graph();
        text += &self.table();
        text += &self.totals_text();
        text += &self.moments_text(play_on);
        text
    }

    /// The values of the positions as bars, those in favour of player 1 upwards.
    fn graph(&self) -> String {
        let first = self.moves.first().map(|first| first.value);
        let values: Vec<f64> = first.into_iter().chain(self.moves.iter().map(|played| played.value_after)).collect();
        let group = values.len().div_ceil(COLUMNS).max(1);
        let bars: Vec<f64> = values.chunks(group).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect();
        let mut text = String::from("\nvalue for player 1\n");
        for row in (1..=ROWS).rev() {
            let cells = bars.iter().map(|&bar| cell(bar, row, ['▄', '█']));
            push_row(&mut text, if row == ROWS { "+1" } else { "" }, cells);
        }
        text += &format!("{:>4} ├{}\n", 0, "─".repeat(bars.len()));
        for row in 1..=ROWS {
            let cells = bars.iter().map(|&bar| cell(-bar, row, ['▀', '█']));
            push_row(&mut text, if row == ROWS { "-1" } else { "" }, cells);
        }
        let (last, width) = (self.moves.len(), bars.len().saturating_sub(1));
        writeln!(text, "{:>4} ply 0{last:>width$}\n", "", width = width.saturating_sub(4)).expect("a string");
        text
    }

    fn table(&self) -> String {
        let width = |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
        let played = width(&mut self.moves.iter().map(|played| &played.shown[..])).clamp(4, LONGEST_MOVE);
        let better = width(&mut self.moves.iter().filter_map(better)).clamp(6, LONGEST_MOVE);
        let mut text = format!(
            "{:>4} {:>6}  {:<played$}     {:>6} {:>5}  {:<better$}  {}\n",
            "ply", "player", "move", "value", "loss", "better", "source"
        );
        for reviewed in &self.moves {
            let mark = reviewed.mark.map_or("", Mark::symbol);
            let source = if reviewed.opening { "opening" } else { reviewed.source.name() };
            let row = format!(
                "{:>4} {:>6}  {:<played$} {mark:<3} {:>+6.2} {:>5.2}  {:<better$}  {source}",
                reviewed.ply,
                reviewed.player,
                cut(&reviewed.shown, played),
                reviewed.value_after,
                reviewed.loss,
                cut(better_text(reviewed), better),
            );
            line(&mut text, &row);
        }
        text + "\n"
    }

    fn totals_text(&self) -> String {
        let mut text = String::new();
        for (player, totals) in (1..).zip(&self.totals) {
            let counts = [
                (totals.blunders, "??"),
                (totals.mistakes, "?"),
                (totals.inaccuracies, "?!"),
                (totals.only_moves, "!"),
            ];
            let counts: Vec<String> = counts.iter().map(|(count, mark)| format!("{count} {mark}")).collect();
            let row = format!(
                "player {player}: {} moves, mean loss {:.3}; {}",
                totals.moves,
                totals.mean_loss,
                counts.join(", ")
            );
            line(&mut text, &row);
        }
        text
    }

    fn moments_text(&self, play_on: &dyn Fn(usize) -> String) -> String {
        if self.moments.is_empty() {
            return "\nno move lost enough to be marked\n".into();
        }
        let mut text = String::from("\nmoments to look at\n");
        for &ply in &self.moments {
            let Some(played) = self.moves.get(ply - 1) else { continue };
            let mark = played.mark.map_or("", Mark::symbol);
            let head = format!("ply {ply}, player {}: {}{mark}", played.player, played.shown);
            let rest = match better(played) {
                Some(_) => format!(" loses {:.2}; better: {}", played.loss, played.best_shown.join(" ")),
                None => " was the only move that kept the value".into(),
            };
            line(&mut text, &format!("  {head}{rest}"));
            // A command is not cut, so that it can be copied.
            writeln!(text, "    {}", play_on(ply - 1)).expect("a string");
        }
        text
    }
}

/// The better move, where the one played is marked as a fault.
fn better(played: &ReviewedMove) -> Option<&str> {
    let is_fault = played.mark.is_some_and(|mark| mark != Mark::Only);
    played.best_shown.first().filter(|_| is_fault).map(String::as_str)
}

fn better_text(played: &ReviewedMove) -> &str {
    better(played).unwrap_or_default()
}

/// The part of a bar in a row, counted from the middle: empty, half or full.
fn cell(bar: f64, row: usize, [half, full]: [char; 2]) -> char {
    match bar * ROWS as f64 - (row - 1) as f64 {
        part if part >= 0.75 => full,
        part if part >= 0.25 => half,
        _ => ' ',
    }
}

fn push_row(text: &mut String, label: &str, cells: impl Iterator<Item = char>) {
    let cells: String = cells.collect();
    let row = format!("{label:>4} │{cells}");
    writeln!(text, "{}", row.trim_end()).expect("a string");
}

/// The text in at most `width` characters.
fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// Adds a line, cut at the width of a terminal.
fn line(text: &mut String, row: &str) {
    writeln!(text, "{}", cut(row.trim_end(), WIDTH)).expect("a string");
}

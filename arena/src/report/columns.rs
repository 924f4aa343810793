//! Columns of the tables of agents and of meetings, each declared once for text, CSV, the page and pandas.

use serde_json::json;

use crate::page::{escaped, signed as signed_on_page};
use crate::result::signed;
use crate::{AgentResult, Meeting, Tally};

/// A column of a table whose rows are made from `T`.
pub(super) struct Column<T> {
    /// Name in CSV and pandas; empty where it is not shown there.
    name: &'static str,
    /// Heading in text, its width with the space before it, and whether it is aligned at its left; `None` where it is not
    /// shown.
    text: Option<(&'static str, usize, bool)>,
    /// Heading on the page; empty where it is not shown.
    page: &'static str,
    value: fn(&T) -> Value,
}

/// A value of a column.
enum Value {
    Nothing,
    Count(usize),
    /// A share, 0..=1.
    Share(f64),
    /// The same, with a percent sign in text.
    Percent(f64),
    Elo(f64),
    /// The same, emphasised on the page.
    Rating(f64),
    EloInterval([f64; 2]),
    /// An Elo difference with its interval.
    EloWithInterval(f64, [f64; 2]),
    Results(Tally),
}

use Value::{Count, Elo, EloInterval, EloWithInterval, Nothing, Percent, Rating, Results, Share};

impl<T> Column<T> {
    /// A column of CSV and pandas.
    const fn named(name: &'static str, value: fn(&T) -> Value) -> Self {
        Self { name, text: None, page: "", value }
    }

    /// A column of text or of the page only.
    const fn shown(value: fn(&T) -> Value) -> Self {
        Self::named("", value)
    }

    const fn text(self, heading: &'static str, width: usize) -> Self {
        Self { text: Some((heading, width, false)), ..self }
    }

    const fn text_at_left(self, heading: &'static str, width: usize) -> Self {
        Self { text: Some((heading, width, true)), ..self }
    }

    const fn page(self, heading: &'static str) -> Self {
        Self { page: heading, ..self }
    }
}

type AgentColumn = Column<AgentResult>;
type MeetingColumn = Column<Meeting>;

/// Results of an agent, after its name.
pub(super) static AGENTS: &[AgentColumn] = &[
    AgentColumn::named("rank", |agent| Count(agent.rank)),
    AgentColumn::named("elo", |agent| Rating(agent.rating)).text("Elo", 8).page("Elo"),
    AgentColumn::named("elo_low", |agent| Elo(agent.rating_interval[0])),
    AgentColumn::named("elo_high", |agent| Elo(agent.rating_interval[1])),
    AgentColumn::shown(|agent| EloInterval(agent.rating_interval))
        .text_at_left("95 % interval", 17)
        .page("95 % interval"),
    AgentColumn::shown(|agent| agent.ahead.map_or(Nothing, Share)).text("ahead", 7).page("ahead"),
    AgentColumn::named("score", |agent| Percent(agent.score)).text("score", 10).page("score"),
    AgentColumn::shown(|agent| Count(agent.by_seat.total().games())).text("games", 7).page("games"),
    AgentColumn::named("won", |agent| Count(agent.by_seat.total().wins)),
    AgentColumn::named("drawn", |agent| Count(agent.by_seat.total().draws)),
    AgentColumn::named("lost", |agent| Count(agent.by_seat.total().losses)),
    AgentColumn::shown(|agent| Results(agent.by_seat.first)).page("as player 1"),
    AgentColumn::shown(|agent| Results(agent.by_seat.second)).page("as player 2"),
];

/// Results of two agents that met, after their names.
pub(super) static MEETINGS: &[MeetingColumn] = &[
    MeetingColumn::shown(|meeting| Count(meeting.by_seat.first.wins)).text("won", 7),
    MeetingColumn::shown(|meeting| Count(meeting.by_seat.first.draws)).text("drawn", 7),
    MeetingColumn::shown(|meeting| Count(meeting.by_seat.first.losses)).text("lost", 7),
    MeetingColumn::shown(|meeting| Count(meeting.by_seat.second.wins)).text("won", 7),
    MeetingColumn::shown(|meeting| Count(meeting.by_seat.second.draws)).text("drawn", 7),
    MeetingColumn::shown(|meeting| Count(meeting.by_seat.second.losses)).text("lost", 7),
    MeetingColumn::shown(|meeting| EloWithInterval(meeting.estimate.elo, meeting.estimate.elo_interval)).page("Elo"),
    MeetingColumn::shown(|meeting| Elo(meeting.estimate.elo)).text("Elo", 7),
    MeetingColumn::shown(|meeting| EloInterval(meeting.estimate.elo_interval)).text_at_left("95 % interval", 16),
    MeetingColumn::shown(|meeting| Share(meeting.estimate.los)).text("LOS", 6).page("likelihood of superiority"),
];

/// Headings in text.
pub(super) fn text_headings<T>(columns: &[Column<T>]) -> String {
    text_line(columns, |_, heading| heading.to_owned())
}

/// A row of text.
pub(super) fn text_row<T>(columns: &[Column<T>], row: &T) -> String {
    text_line(columns, |column, _| (column.value)(row).text())
}

fn text_line<T>(columns: &[Column<T>], cell: impl Fn(&Column<T>, &str) -> String) -> String {
    let mut line = String::new();
    for column in columns {
        let Some((heading, width, at_left)) = column.text else { continue };
        let cell = cell(column, heading);
        line += &if at_left { format!("  {cell:<rest$}", rest = width - 2) } else { format!("{cell:>width$}") };
    }
    line.trim_end().to_owned()
}

/// Names in pandas.
pub(super) fn names<T>(columns: &[Column<T>]) -> impl Iterator<Item = &'static str> {
    columns.iter().map(|column| column.name).filter(|name| !name.is_empty())
}

/// A row for pandas; infinite Elo is `null`.
pub(super) fn json_row<T>(columns: &[Column<T>], row: &T) -> impl Iterator<Item = serde_json::Value> {
    columns.iter().filter(|column| !column.name.is_empty()).map(move |column| (column.value)(row).json())
}

/// Headings on the page, as cells of a table.
pub(super) fn page_headings<T>(columns: &[Column<T>]) -> String {
    let shown = columns.iter().filter(|column| !column.page.is_empty());
    shown.map(|column| format!("<th>{}</th>", column.page)).collect()
}

/// A row on the page, as cells of a table.
pub(super) fn page_row<T>(columns: &[Column<T>], row: &T) -> String {
    let shown = columns.iter().filter(|column| !column.page.is_empty());
    shown.map(|column| format!("<td>{}</td>", (column.value)(row).html())).collect()
}

/// A row on the page as one line of text.
pub(super) fn page_line<T>(columns: &[Column<T>], row: &T) -> String {
    let shown = columns.iter().filter(|column| !column.page.is_empty());
    let parts: Vec<String> = shown.map(|column| format!("{} {}", column.page, (column.value)(row).html())).collect();
    parts.join(", ")
}

impl Value {
    fn text(&self) -> String {
        match *self {
            Nothing => String::new(),
            Count(count) => count.to_string(),
            Share(share) => share_text(share),
            Percent(share) => share_text(share) + " %",
            Elo(elo) | Rating(elo) => signed(elo),
            EloInterval(interval) => interval_text(interval),
            EloWithInterval(elo, interval) => format!("{} {}", signed(elo), interval_text(interval)),
            Results(record) => record_text(record),
        }
    }

    fn html(&self) -> String {
        match *self {
            Share(share) | Percent(share) => percent(share),
            Elo(elo) => signed_on_page(elo),
            Rating(elo) => format!("<b>{}</b>", signed_on_page(elo)),
            EloInterval([low, high]) => format!("[{}, {}]", signed_on_page(low), signed_on_page(high)),
            EloWithInterval(elo, interval) => format!("{} {}", signed_on_page(elo), EloInterval(interval).html()),
            Nothing | Count(_) | Results(_) => escaped(&self.text()),
        }
    }

    fn json(&self) -> serde_json::Value {
        match *self {
            Nothing => serde_json::Value::Null,
            Count(count) => json!(count),
            Share(number) | Percent(number) | Elo(number) | Rating(number) => json!(number),
            _ => json!(self.text()),
        }
    }
}

/// A share as a percentage in text.
pub(super) fn share_text(share: f64) -> String {
    if share.is_nan() { "-".into() } else { format!("{:.1}", 100.0 * share) }
}

/// A share as a percentage on the page.
pub(super) fn percent(share: f64) -> String {
    if share.is_nan() { "–".into() } else { format!("{:.1} %", 100.0 * share) }
}

pub(super) fn record_text(record: Tally) -> String {
    format!("{} – {} – {}", record.wins, record.draws, record.losses)
}

fn interval_text([low, high]: [f64; 2]) -> String {
    format!("[{}, {}]", signed(low), signed(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;
    use crate::summary::tests::record;

    #[test]
    fn every_cell_of_text_stands_below_its_heading() {
        let summary = Summary::new(&record(&["x", "y"], &[(0, [0, 1], 1, "a"), (1, [1, 0], 0, "b")]), &[None, None]);
        let (heads, row) = (text_headings(MEETINGS), text_row(MEETINGS, &summary.meetings[0]));
        assert_eq!(heads, "    won  drawn   lost    won  drawn   lost    Elo  95 % interval    LOS");
        assert!(row.starts_with("      1      0      0      0      1      0 "), "{row}");
        assert!(heads.len() + "  meeting".len() <= 80 && row.chars().count() == heads.chars().count(), "{row}");
    }

    #[test]
    fn a_row_has_a_value_for_every_name() {
        let summary = Summary::new(&record(&["x", "y"], &[]), &[None, None]);
        let agent = &summary.agents[0];
        assert_eq!(json_row(AGENTS, agent).count(), names(AGENTS).count());
        assert_eq!(page_row(AGENTS, agent).matches("<td>").count(), page_headings(AGENTS).matches("<th>").count());
        assert_eq!(names(AGENTS).next(), Some("rank"), "pandas sorts by it");
    }
}

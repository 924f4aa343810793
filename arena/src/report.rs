//! Reports of a tournament: text, JSON, CSV, SVG, and an HTML page with all games on a board.

mod text;
mod csv;
mod tables;
mod games;
mod page;

pub(crate) use csv::{games_csv, meetings_csv};
pub(crate) use page::page;
pub(crate) use text::text;

use serde_json::{Value, json};

use super::{Summary, TournamentRecord};
use crate::page::{Range, ranges_document};

/// The summary and the record as one JSON object.
pub(crate) fn json(record: &TournamentRecord, summary: &Summary) -> Value {
    json!({ "summary": summary, "record": record })
}

/// Chart of the ratings with their intervals, strongest agent first, as an SVG document.
pub(crate) fn ratings_svg(summary: &Summary) -> String {
    ranges_document(RATINGS, "Elo", &rating_ranges(summary))
}

/// Title of the chart of ratings.
const RATINGS: &str = "Ratings with 95 % intervals";

fn rating_ranges(summary: &Summary) -> Vec<Range> {
    let range = |agent: usize| {
        let standing = &summary.agents[agent];
        Range { name: standing.agent.clone(), value: standing.rating, interval: standing.rating_interval }
    };
    summary.ranking().into_iter().map(range).collect()
}

//! Reports of a tournament: text, JSON, CSV, and an HTML page with all games on a board.

mod columns;
mod text;
mod tables;
mod games;
mod page;

pub(crate) use page::page;
pub(crate) use text::text;

use serde_json::{Value, json};

use super::{AgentResult, Summary, TournamentRecord};

/// The summary and the record as one JSON object.
pub(crate) fn json(record: &TournamentRecord, summary: &Summary) -> Value {
    json!({ "summary": summary, "record": record })
}

/// The table of the agents for pandas: names of the columns, and rows.
pub(super) fn agent_table(summary: &Summary) -> Value {
    let columns: Vec<&str> = std::iter::once("agent").chain(columns::names(columns::AGENTS)).collect();
    let row = |agent: &AgentResult| -> Vec<Value> {
        std::iter::once(json!(agent.agent)).chain(columns::json_row(columns::AGENTS, agent)).collect()
    };
    json!({ "columns": columns, "rows": summary.agents.iter().map(row).collect::<Vec<_>>() })
}

//! Tables of the page: results by seat, pairs, standings, cross table, endings and incidents.

use std::fmt::Write;

use super::columns::{AGENTS, MEETINGS, page_headings, page_line, page_row, percent, record_text};
use crate::page::escaped;
use crate::{BySeat, Meeting, Summary, Tally, TournamentRecord};

/// Results of agent A by seat.
pub(super) fn seats(meeting: &Meeting) -> String {
    let mut rows = String::new();
    let BySeat { first, second } = meeting.by_seat;
    for (seat, record) in [("player 1", first), ("player 2", second), ("both", meeting.by_seat.total())] {
        let Tally { wins, draws, losses } = record;
        let score = percent(record.score());
        write!(
            rows,
            "<tr><td>{seat}</td><td>{}</td><td>{wins}</td><td>{draws}</td><td>{losses}</td><td>{score}</td></tr>",
            record.games()
        )
        .expect("a string");
    }
    format!(
        "<div class=\"card\"><div class=\"scroll\" tabindex=\"0\"><table><tr><th>A as</th><th>games</th><th>won</th><th>drawn</th><th>lost</th><th>score</th></tr>{rows}</table></div></div>\n"
    )
}

/// Number of pairs by A's points, as bars.
pub(super) fn pairs(meeting: &Meeting) -> String {
    let counts = meeting.estimate.pairs.counts();
    let most = counts.into_iter().max().unwrap_or(0).max(1);
    let mut rows = String::new();
    for (points, count) in ["0", "½", "1", "1½", "2"].iter().zip(counts) {
        let share = 100.0 * count as f64 / most as f64;
        write!(rows, r#"<tr><td>{points}</td><td class="wide"><span class="length" style="width:{share:.1}%"></span></td><td>{count}</td></tr>"#)
            .expect("a string");
    }
    format!(
        "<div class=\"card\"><table class=\"bars\"><tr><th>points of A</th><th></th><th>pairs</th></tr>{rows}</table><p class=\"note\">A pair is two games from one opening with seats swapped. All intervals come from these five counts.</p></div>\n"
    )
}

/// Standings, strongest agent first.
pub(super) fn standings(summary: &Summary) -> String {
    let mut rows = String::new();
    for (place, agent) in (1..).zip(summary.ranking()) {
        let standing = &summary.agents[agent];
        let (name, cells) = (escaped(&standing.agent), page_row(AGENTS, standing));
        write!(rows, "<tr><td>{place}</td><td class=\"name\">{name}</td>{cells}</tr>").expect("a string");
    }
    let heads = page_headings(AGENTS);
    format!(
        "<div class=\"card\"><div class=\"scroll\" tabindex=\"0\"><table><tr><th>#</th><th class=\"name\">agent</th>{heads}</tr>{rows}</table></div><p class=\"note\">Ahead: likelihood of superiority over the next agent. Won – drawn – lost. The ratings are joint, so an agent's score against weak opponents does not raise it; their mean is 0 unless some were given.</p></div>\n"
    )
}

/// Cross table of all agents, strongest first.
pub(super) fn cross_table(summary: &Summary) -> String {
    let ranking = summary.ranking();
    let heads: String = (1..=ranking.len()).map(|place| format!("<th>{place}</th>")).collect();
    let mut rows = String::new();
    for (place, &a) in (1..).zip(&ranking) {
        let cells: String = ranking.iter().map(|&b| cell(summary, a, b)).collect();
        write!(rows, "<tr><td class=\"name\">{place}. {}</td>{cells}</tr>", escaped(&summary.agents[a].agent))
            .expect("a string");
    }
    format!(
        "<div class=\"card\"><div class=\"scroll\" tabindex=\"0\"><table class=\"cross\"><tr><th></th>{heads}</tr>{rows}</table></div><p class=\"note\">Score of the row against the column, and games won – drawn – lost. Point at a cell for Elo and likelihood of superiority.</p></div>\n"
    )
}

/// Meetings of the one agent that has met all others, strongest opponent first.
pub(super) fn meetings(summary: &Summary) -> String {
    let ranking = summary.ranking();
    let met = |agent: usize| ranking.iter().filter(|&&other| summary.meeting(agent, other).is_some()).count();
    let one = ranking.iter().copied().max_by_key(|&agent| met(agent)).unwrap_or(0);
    let mut rows = String::new();
    for &other in ranking.iter().filter(|&&other| other != one) {
        write!(
            rows,
            "<tr><td class=\"name\">{}</td>{}</tr>",
            escaped(&summary.agents[other].agent),
            cell(summary, one, other)
        )
        .expect("a string");
    }
    let name = escaped(&summary.agents[one].agent);
    format!(
        "<div class=\"card\"><div class=\"scroll\" tabindex=\"0\"><table class=\"cross\"><tr><th>opponent</th><th class=\"name\">score of {name}</th></tr>{rows}</table></div><p class=\"note\">Games won – drawn – lost. Point at a cell for Elo and likelihood of superiority.</p></div>\n"
    )
}

fn cell(summary: &Summary, a: usize, b: usize) -> String {
    let Some(meeting) = summary.meeting(a, b) else {
        return format!("<td class=\"none\">{}</td>", if a == b { "·" } else { "not met" });
    };
    let (score, tip) = (meeting.estimate.score, page_line(MEETINGS, &meeting));
    // At most 47 %: text keeps a contrast of 4.5 on it in both colour schemes.
    let (colour, strength) = (if score < 0.5 { "less" } else { "more" }, 94.0 * (score - 0.5).abs());
    format!(
        "<td class=\"{colour}\" style=\"--share:{strength:.0}%\" title=\"{tip}\">{}<br><span class=\"sub\">{}</span></td>",
        percent(score),
        record_text(meeting.by_seat.total())
    )
}

/// Number of games by ending.
pub(super) fn endings(summary: &Summary) -> String {
    let mut rows = String::new();
    for (ending, games) in &summary.endings {
        write!(rows, "<tr><td>{}</td><td>{games}</td></tr>", ending.words()).expect("a string");
    }
    format!("<div class=\"card\"><table><tr><th>games ended</th><th></th></tr>{rows}</table></div>\n")
}

/// Incidents by game; empty if there are none.
pub(super) fn incidents(record: &TournamentRecord) -> String {
    /// Maximum number of rows.
    const MOST: usize = 100;
    let all = record.games.iter().flat_map(|game| game.incidents.iter().map(move |incident| (game.number, incident)));
    let (mut rows, total) = (String::new(), all.clone().count());
    if total == 0 {
        return rows;
    }
    for (game, incident) in all.take(MOST) {
        let (agent, what) = (escaped(&record.header.agents[incident.agent]), escaped(&incident.what));
        write!(
            rows,
            "<tr><td><a href=\"#game-{}\">{}</a></td><td>{}</td><td class=\"name\">{agent}</td><td>{}</td><td class=\"name\">{what}</td></tr>",
            game + 1,
            game + 1,
            incident.ply + 1,
            incident.kind.words()
        )
        .expect("a string");
    }
    let more = if total > MOST { format!("<p class=\"note\">The first {MOST} of {total}.</p>") } else { String::new() };
    format!(
        "<div class=\"card\"><div class=\"scroll\" tabindex=\"0\"><table><tr><th>game</th><th>ply</th><th class=\"name\">agent</th><th>fault</th><th class=\"name\">message</th></tr>{rows}</table></div>{more}</div>\n"
    )
}

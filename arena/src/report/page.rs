//! HTML page of a tournament: results with their intervals, and all games on a board.

use anyhow::Result;
use turnstone_env::DynGame;

use super::columns::percent;
use super::{games, tables};
use crate::page::{Page, Range, Section, escaped, grouped, ranges, signed, title};
use crate::{AgentResult, Decision, Meeting, Penalty, Summary, TournamentFormat, TournamentRecord, TournamentSettings};

/// Renders the page as an HTML document.
///
/// # Errors
/// A move of a game is not legal, as in the record of another game or version.
pub(crate) fn page(game: &dyn DynGame, record: &TournamentRecord, summary: &Summary) -> Result<String> {
    let (summary, cut) = &summary.with_short_names();
    let mut parts = Vec::new();
    match &summary.meetings[..] {
        [] => {}
        [meeting] if summary.agents.len() == 2 => parts.push(match_part(meeting)),
        _ => parts.extend(tournament_parts(summary, cut.as_deref().unwrap_or_default())),
    }
    if !record.games.is_empty() {
        parts.push(games::part(game, record)?);
    }
    parts.push(conditions(record, summary));
    let name = title(&record.header.game);
    let page = Page {
        title: &format!("{name}: a Turnstone {}", kind(record)),
        header: &header(&name, record, summary),
        parts: &parts,
        footer: &format!(
            "turnstone {} · rules of {} version {}",
            env!("CARGO_PKG_VERSION"),
            game.name(),
            game.version()
        ),
    };
    Ok(page.html())
}

fn kind(record: &TournamentRecord) -> &'static str {
    if record.header.agents.len() == 2 { "match" } else { "tournament" }
}

fn header(name: &str, record: &TournamentRecord, summary: &Summary) -> String {
    let settings = &record.header.settings;
    let params: Vec<String> = record.header.params.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let (params, kind) = (escaped(&params.join(", ")), kind(record));
    let headline: String = match &summary.meetings[..] {
        [] => "<p class=\"lead\">No game has been played yet.</p>".into(),
        [meeting] if summary.agents.len() == 2 => match_headline(meeting, summary),
        _ => tournament_headline(summary),
    };
    let tile = |figure: String, what: &str| format!("<div class=\"tile\"><b>{figure}</b><span>{what}</span></div>");
    let plies = if summary.games == 0 { "–".into() } else { format!("{:.1}", summary.mean_plies) };
    let tiles = [
        tile(grouped(summary.games as u64), "games"),
        tile(grouped(summary.distinct_games as u64), "of them distinct"),
        tile(plies, "plies on average"),
        tile(percent(summary.first_seat.score), "score of player 1, over all agents"),
    ];
    format!(
        "<p class=\"brand\">Turnstone · arena</p>\n<h1>{name}: {kind}</h1>\n<p class=\"sub\">{}, seed {}<br>{params}</p>\n{headline}<div class=\"tiles\">{}</div>\n",
        format_words(settings.format, summary.agents.len()),
        settings.seed,
        tiles.concat()
    )
}

/// Score, Elo and likelihood of superiority of a match in large figures.
fn match_headline(meeting: &Meeting, summary: &Summary) -> String {
    let [a, b] = meeting.agents.map(|agent| escaped(&summary.agents[agent].agent));
    let estimate = &meeting.estimate;
    let ([low, high], [elo_low, elo_high]) = (estimate.score_interval.map(percent), estimate.elo_interval.map(signed));
    let tile = |head: &str, figure: String, lines: &[String]| {
        let lines: String = lines.iter().map(|line| format!("<span>{line}</span>")).collect();
        format!("<div class=\"tile\"><span class=\"against\">{head}</span><b>{figure}</b>{lines}</div>")
    };
    let mut tiles = vec![
        tile("score of A", percent(estimate.score), &[format!("95 % interval {low} to {high}")]),
        tile("Elo of A above B", signed(estimate.elo), &[format!("95 % interval {elo_low} to {elo_high}")]),
        tile("A is the stronger", percent(estimate.los), &["likelihood of superiority".into()]),
    ];
    if let Some(sprt) = &summary.sprt {
        let [low, high] = sprt.bounds;
        let ratio = format!("log-likelihood ratio {:.2}, bounds {low:.2} and {high:.2}", sprt.log_likelihood_ratio);
        let lines =
            [sprt.decision.to_string(), escaped(&sprt.hypotheses()), ratio].map(|line| line.replace(" -", " −"));
        let figure = match sprt.decision {
            Decision::Continue => "open",
            Decision::AcceptH0 => "H0",
            Decision::AcceptH1 => "H1",
        };
        tiles.push(tile("sequential test", figure.into(), &lines));
    }
    format!(
        "<p class=\"agents\"><b>A</b> {a}<br><b>B</b> {b}</p>\n<div class=\"tiles headline\">{}</div>\n",
        tiles.concat()
    )
}

/// The three strongest agents in large figures.
fn tournament_headline(summary: &Summary) -> String {
    let tile = |(place, agent): (usize, usize)| {
        let standing = &summary.agents[agent];
        let ([low, high], name) = (standing.rating_interval.map(signed), escaped(&standing.agent));
        format!(
            "<div class=\"tile\"><span class=\"against\">{place}. {name}</span><b>{}</b><span>Elo, 95 % interval {low} to {high}</span><span>{} of {} games' points</span></div>",
            signed(standing.rating),
            percent(standing.score),
            standing.by_seat.total().games()
        )
    };
    let tiles: String = (1..).zip(summary.ranking()).take(3).map(tile).collect();
    format!("<div class=\"tiles headline\">{tiles}</div>\n")
}

fn match_part(meeting: &Meeting) -> Section {
    let html = format!("<div class=\"halves\">{}{}</div>\n", tables::seats(meeting), tables::pairs(meeting));
    Section { id: "result", heading: "Result", lead: String::new(), html }
}

/// `lead` says what short names leave out.
fn tournament_parts(summary: &Summary, lead: &str) -> Vec<Section> {
    let range = |agent: usize| {
        let AgentResult { agent, rating, rating_interval, .. } = &summary.agents[agent];
        Range { name: agent, value: *rating, interval: *rating_interval }
    };
    let ratings: Vec<Range> = summary.ranking().into_iter().map(range).collect();
    let drawing = ranges("Ratings with 95 % intervals", "Elo", &ratings);
    let html = format!("{drawing}<div class=\"below\">{}</div>", tables::standings(summary));
    let mut parts = vec![Section { id: "ratings", heading: "Ratings", lead: lead.to_owned(), html }];
    // Where one agent meets all others, as on a ladder, a row of its own says it.
    let cross = if summary.is_one_against_all() { tables::meetings(summary) } else { tables::cross_table(summary) };
    parts.push(Section { id: "cross", heading: "Meetings", lead: String::new(), html: cross });
    parts
}

/// Section with the settings, the endings of the games and the incidents.
fn conditions(record: &TournamentRecord, summary: &Summary) -> Section {
    let rows: String = conditions_in_words(&record.header.settings)
        .into_iter()
        .chain([("openings", format!("{} different", record.header.openings.len()))])
        .map(|(what, words)| format!("<tr><td>{what}</td><td>{}</td></tr>", escaped(&words)))
        .collect();
    let notes: String = record.notes.iter().map(|note| format!("<p class=\"lead\">{}</p>\n", escaped(note))).collect();
    let unpaired = match summary.unpaired_games {
        0 => String::new(),
        games => format!(
            "<p class=\"lead\">{games} games without the other one of their pair do not affect scores and ratings.</p>\n"
        ),
    };
    let html = format!(
        "{notes}{unpaired}<div class=\"halves\"><div class=\"card\"><table class=\"plain\">{rows}</table></div>{}</div><div class=\"below\">{}</div>\n",
        tables::endings(summary),
        tables::incidents(record)
    );
    Section { id: "conditions", heading: "How it was played", lead: String::new(), html }
}

fn conditions_in_words(settings: &TournamentSettings) -> Vec<(&'static str, String)> {
    let penalty = |penalty| match penalty {
        Penalty::Lose => "loses the game",
        Penalty::Random => "has its moves replaced by random ones",
    };
    let mut rows = vec![("games of a meeting", settings.games.to_string())];
    if let Some(clock) = settings.clock {
        let seconds = clock as f64 / 1000.0;
        rows.push((
            "clock of each player",
            format!("{seconds} s per game; a player out of time {}", penalty(settings.out_of_time)),
        ));
    }
    rows
}

fn format_words(format: TournamentFormat, agents: usize) -> String {
    match format {
        _ if agents == 2 => "two agents".to_owned(),
        TournamentFormat::RoundRobin => format!("round-robin of {agents} agents"),
        TournamentFormat::Gauntlet => format!("gauntlet: the first agent against {} others", agents - 1),
    }
}

#[cfg(test)]
mod tests {
    use turnstone_env::Erased;
    use turnstone_env::games::MuTorere;

    use super::*;
    use crate::summary::tests::record;
    use crate::{Ending, Incident, TournamentRecord};

    fn html(record: &TournamentRecord) -> Result<String> {
        let summary = Summary::new(record, &vec![None; record.header.agents.len()]);
        page(&Erased::<_, turnstone_games::MuTorere>::with_knowledge(MuTorere::default()), record, &summary)
    }

    #[test]
    fn a_match_a_tournament_and_nothing_make_pages() {
        let mut games = record(&["<a>", "b"], &[(0, [0, 1], 1, "0,4 1,0"), (1, [1, 0], 0, "2,4 1,2")]);
        games.games[1].incidents.push(Incident { ply: 1, agent: 0, kind: Ending::Crash, what: "</script>".into() });
        let page = html(&games).expect("legal moves");
        assert!(page.contains("&lt;a&gt;") && !page.contains("<a>") && page.contains("75.0 %"), "{page}");
        assert_eq!(page.matches("</script>").count(), 3);
        let three = record(&["a", "b", "c"], &[(0, [0, 1], 1, "0,4"), (1, [1, 0], 0, "2,4"), (2, [1, 2], 0, "2,4")]);
        let page = html(&three).expect("legal moves");
        assert!(page.contains("id=\"cross\"") && !page.contains("NaN") && page.contains("1 games without"), "{page}");
        let none = html(&record(&["a", "b"], &[])).expect("no moves");
        assert!(none.contains("No game has been played yet") && !none.contains("NaN"), "{none}");
    }

    #[test]
    fn a_record_of_other_rules_is_refused() {
        let fault = html(&record(&["a", "b"], &[(3, [0, 1], 1, "0,4 0,4")])).expect_err("an illegal move");
        assert!(format!("{fault:#}").starts_with("game 3 of the record: "), "{fault:#}");
    }
}

//! Tables of games and meetings as CSV (RFC 4180).

use super::columns::{MEETINGS, csv_row, names};
use crate::{Summary, TournamentRecord};

/// One row per game. `result` is 1, 0.5 or 0 for the first player; `moves` include those of the opening.
pub(crate) fn games_csv(record: &TournamentRecord) -> String {
    let mut text = String::from("game,opening,first,second,result,ending,plies,opening_plies,incidents,moves\r\n");
    let agents = &record.header.agents;
    for game in &record.games {
        let incidents: Vec<String> = game
            .incidents
            .iter()
            .map(|incident| format!("ply {}: {}: {}", incident.ply, agents[incident.agent], incident.what))
            .collect();
        row(
            &mut text,
            &[
                game.number.to_string(),
                game.opening.to_string(),
                agents[game.agents[0]].clone(),
                agents[game.agents[1]].clone(),
                (f64::from(game.result + 1) / 2.0).to_string(),
                game.ending.words().to_owned(),
                game.moves.len().to_string(),
                game.opening_plies.to_string(),
                incidents.join("; "),
                game.moves.join(" "),
            ],
        );
    }
    text
}

/// One row per pair of agents that met, from the point of view of `a`. `pairs_0` to `pairs_4` count game pairs by half
/// points; infinite Elo is `inf`.
pub(crate) fn meetings_csv(summary: &Summary) -> String {
    let mut text = String::new();
    row(&mut text, &["a", "b"].into_iter().chain(names(MEETINGS)).map(String::from).collect::<Vec<_>>());
    for meeting in &summary.meetings {
        let agents = meeting.agents.iter().map(|&agent| summary.agents[agent].agent.clone());
        row(&mut text, &agents.chain(csv_row(MEETINGS, meeting)).collect::<Vec<_>>());
    }
    text
}

fn row(text: &mut String, fields: &[String]) {
    let quoted = |field: &String| match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.clone(),
    };
    *text += &(fields.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::record;
    use crate::{Ending, Incident};

    #[test]
    fn rows_are_quoted_where_they_must_be() {
        let mut record = record(&["mcts:sims=9,c=1", "y"], &[(0, [0, 1], 1, "0,4 5,8"), (1, [1, 0], 0, "a b")]);
        record.games[0].incidents.push(Incident { ply: 1, agent: 1, kind: Ending::IllegalMove, what: "\"z\"".into() });
        let games = games_csv(&record);
        let lines: Vec<&str> = games.split("\r\n").collect();
        assert_eq!(lines[1], r#"0,0,0,"mcts:sims=9,c=1",y,1,by the rules,2,1,"ply 1: y: ""z""","0,4 5,8""#);
        assert_eq!((lines[2].split(',').nth(6), lines.len()), (Some("0.5"), 4));
        let meetings = meetings_csv(&Summary::new(&record, &[None, None]));
        let lines: Vec<&str> = meetings.split("\r\n").collect();
        assert!(lines[1].starts_with(r#""mcts:sims=9,c=1",y,1,0,0,0,1,0,0,0,0,1,0,0.750000,"#), "{}", lines[1]);
        assert_eq!(lines[0].split(',').count(), lines[1].split(',').count() - 1);
    }
}

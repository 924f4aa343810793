//! All games of a tournament with their boards, for the page's script.

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::json;
use turnstone_env::DynGame;

use crate::page::{Boards, Line, Section, data};
use crate::saved_games::Replay;
use crate::{Ending, GameRecord, TournamentRecord};

/// A game as the script gets it.
#[derive(Serialize)]
struct ShownGame<'a> {
    number: usize,
    /// Indices of the agents.
    players: [usize; 2],
    result: i8,
    /// Place in [`Ending::ALL`].
    ending: usize,
    incidents: Vec<ShownIncident<'a>>,
    line: Line,
}

#[derive(Serialize)]
struct ShownIncident<'a> {
    ply: usize,
    agent: usize,
    kind: &'static str,
    what: &'a str,
}

/// Section with the list of games and a board to step through each of them.
///
/// # Errors
/// A move of a game is not legal, as in the record of another game or version.
pub(super) fn part(game: &dyn DynGame, record: &TournamentRecord) -> Result<Section> {
    let mut boards = Boards::default();
    let games: Result<Vec<_>> = record.games.iter().map(|played| shown(game, played, &mut boards)).collect();
    let endings = Ending::ALL.map(Ending::words);
    let all = json!({ "agents": record.header.agents, "endings": endings, "games": games? });
    let html = format!("{}{LIST}{}", boards.element(), data(Some("all-games"), &all));
    let lead = "Filter the list and choose a game; the arrow keys step through it.".into();
    Ok(Section { id: "games", heading: "Games", lead, html })
}

fn shown<'a>(game: &dyn DynGame, played: &'a GameRecord, boards: &mut Boards) -> Result<ShownGame<'a>> {
    let replay = Replay::new(game, game.start(), &played.moves);
    let replay = replay.with_context(|| format!("game {} of the record", played.number))?;
    let incidents = played.incidents.iter();
    Ok(ShownGame {
        number: played.number,
        players: played.agents,
        result: played.result,
        ending: Ending::ALL.iter().position(|ending| *ending == played.ending).unwrap_or_default(),
        incidents: incidents
            .map(|i| ShownIncident { ply: i.ply, agent: i.agent, kind: i.kind.words(), what: &i.what })
            .collect(),
        line: Line { opening: played.opening_plies, ..Line::new(game, &replay, boards) },
    })
}

/// The place of the board, and the list of games.
const LIST: &str = r#"<article class="card game" id="viewer" hidden></article>
<div class="card" id="list" hidden>
<p class="filters"><label>agent <select class="agent"></select></label> <label>against <select class="against"></select></label> <label>result <select class="result"></select></label> <label>ended <select class="ending"></select></label> <span class="sub count"></span></p>
<div class="scroll rows" tabindex="0" role="region" aria-label="Games"><table><thead><tr><th>game</th><th class="name">player 1</th><th class="name">player 2</th><th>result</th><th>plies</th><th>ended</th></tr></thead><tbody></tbody></table></div>
</div>
"#;

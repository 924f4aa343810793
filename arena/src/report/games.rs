//! All games of a tournament with their boards, for the page's script.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use turnstone_env::DynGame;

use crate::page::{Boards, Section, data};
use crate::{Ending, GameRecord, TournamentRecord};

/// Section with the list of games and a board to step through each of them.
///
/// # Errors
/// A move of a game is not legal, as in the record of another game or version.
pub(super) fn part(game: &dyn DynGame, record: &TournamentRecord) -> Result<Section> {
    let mut boards = Boards::default();
    let games: Result<Vec<Value>> = record.games.iter().map(|played| packed(game, played, &mut boards)).collect();
    let endings = Ending::ALL.map(Ending::words);
    let all = json!({ "agents": record.header.agents, "endings": endings, "games": games? });
    let html = format!("{VIEWER}{}{}", boards.element(), data(Some("all-games"), &all));
    let lead = "Filter the list and choose a game; the arrow keys step through it.".into();
    Ok(Section { id: "games", heading: "Games", lead, html })
}

/// A game in the form expected by the script: number, agents, result, ending, plies of the opening, movers (1 or 2 per
/// ply), moves, boards, incidents.
fn packed(game: &dyn DynGame, played: &GameRecord, boards: &mut Boards) -> Result<Value> {
    let mut state = game.start();
    let mut movers = String::new();
    let mut drawings = vec![game.draw_svg(&state, None)];
    for text in &played.moves {
        movers.push(if game.mover(&state).index() == 0 { '1' } else { '2' });
        let before = state.clone();
        let action =
            game.parse_action(&state, text).and_then(|action| game.try_play(&mut state, action).map(|()| action));
        let action = action.with_context(|| format!("game {} of the record", played.number))?;
        drawings.push(game.draw_svg(&state, Some((&before, action))));
    }
    let incidents: Vec<Value> =
        played.incidents.iter().map(|i| json!([i.ply, i.agent, i.kind.words(), i.what])).collect();
    let ending = Ending::ALL.iter().position(|ending| *ending == played.ending);
    Ok(json!([
        played.number,
        played.agents,
        played.result,
        ending,
        played.opening_plies,
        movers,
        played.moves.join(" "),
        boards.pack(drawings),
        incidents
    ]))
}

/// The board with its controls, and the list of games.
const VIEWER: &str = r#"<noscript><p class="lead">The games need JavaScript.</p></noscript>
<article class="card game" id="viewer" hidden>
<div class="table">
<div class="board"></div>
<div class="controls" hidden>
<button type="button" class="back" aria-label="previous ply">&#9664;</button>
<input type="range" min="0" max="0" value="0" aria-label="ply">
<button type="button" class="on" aria-label="next ply">&#9654;</button>
<button type="button" class="run">play</button>
</div>
</div>
<div class="side">
<h3 class="heading"></h3>
<p class="players"></p>
<p class="now"><b class="ply"></b></p>
<p class="note how"></p>
<ol class="moves" tabindex="0" aria-label="moves"></ol>
<p class="steps"><button type="button" class="previous">previous game</button> <button type="button" class="next">next game</button> <button type="button" class="pair">other game of the pair</button></p>
</div>
</article>
<div class="card" id="list" hidden>
<p class="filters"><label>agent <select class="agent"></select></label> <label>against <select class="against"></select></label> <label>result <select class="result"></select></label> <label>ended <select class="ending"></select></label> <span class="sub count"></span></p>
<div class="scroll rows" tabindex="0" role="region" aria-label="Games"><table><thead><tr><th>game</th><th class="name">player 1</th><th class="name">player 2</th><th>result</th><th>plies</th><th>ended</th></tr></thead><tbody></tbody></table></div>
</div>
"#;

//! The rules of the built-in games for `tests/golden/mctx_trees.py`. Reads lines `game|position`, where the position may
//! be `start`, and answers each with a JSON line: sign of the mover, result for the first side or null, and the positions
//! after the legal actions.

use std::io::BufRead;

use serde_json::json;
use turnstone_env::games::AnyGame;
use turnstone_env::{ActionList, Error, Game, Params, with_game};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (name, position) = line.split_once('|').ok_or("expected `game|position`")?;
        let game = AnyGame::new(name, &Params::new())?;
        println!("{}", with_game!(&game, |game| described(game, position))?);
    }
    Ok(())
}

fn described<G: Game>(game: &G, position: &str) -> Result<serde_json::Value, Error> {
    let state = if position == "start" { game.start() } else { game.parse_position(position)? };
    let mut legal = ActionList::new();
    let outcome = game.outcome(&state);
    if outcome.is_none() {
        game.legal(&state, &mut legal);
    }
    let after = |&action| {
        let mut after = state;
        game.play(&mut after, action);
        game.position_text(&after)
    };
    Ok(json!({
        "mover": game.mover(&state).sign(),
        "result": outcome.map(|outcome| outcome.value()),
        "after": legal.iter().map(after).collect::<Vec<_>>(),
    }))
}

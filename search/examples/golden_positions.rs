//! The rules of the built-in games for `tests/golden/mctx_trees.py`. Reads lines `game|position`, where the position may
//! be `start`, and answers each with a JSON line: sign of the mover, result for the first side or null, and the positions
//! after the legal actions.

use std::io::BufRead;

use serde_json::json;
use turnstone_env::games::built_in;
use turnstone_env::{DynGame, Error, Params};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (name, position) = line.split_once('|').ok_or("expected `game|position`")?;
        let game = built_in().make(name, &Params::new())?;
        println!("{}", described(&*game, position)?);
    }
    Ok(())
}

fn described(game: &dyn DynGame, position: &str) -> Result<serde_json::Value, Error> {
    let state = if position == "start" { game.start() } else { game.parse_position(position)? };
    let (legal, outcome) = (game.legal_actions(&state), game.outcome(&state));
    let after = |&action| {
        let mut after = state.clone();
        game.play(&mut after, action);
        game.position_text(&after)
    };
    Ok(json!({
        "mover": game.mover(&state).sign(),
        "result": outcome.map(|outcome| outcome.value()),
        "after": legal.iter().map(after).collect::<Vec<_>>(),
    }))
}

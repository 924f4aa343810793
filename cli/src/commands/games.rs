//! `turnstone games`: the games and their parameters.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use turnstone_env::games::{AnyGame, NAMES};
use turnstone_env::{Game, Params, with_game};

use crate::agents::pretrained_games;

#[derive(Args, Debug)]
pub(crate) struct Games {
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

impl Games {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let games = NAMES.iter().map(|name| AnyGame::new(name, &Params::new())).collect::<Result<Vec<_>, _>>()?;
        if self.json {
            let list: Vec<_> = games.iter().map(describe).collect();
            println!("{}", serde_json::to_string(&list)?);
            return Ok(ExitCode::SUCCESS);
        }
        println!("{:<12} {:>7} {:>8} {:>10}  parameters and defaults", "game", "actions", "features", "pretrained");
        for game in &games {
            let spec = game.spec();
            let pretrained = if is_pretrained(spec.name) { "yes" } else { "-" };
            let (name, params) = (game.name(), game.params());
            println!("{name:<12} {:>7} {:>8} {pretrained:>10}  {params}", spec.actions, spec.features());
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether a trained agent comes with the program, `az:pretrained`.
fn is_pretrained(game: &str) -> bool {
    pretrained_games().any(|name| name == game)
}

fn describe(any: &AnyGame) -> serde_json::Value {
    let spec = any.spec();
    with_game!(any, |game| json!({
        "name": spec.name,
        "version": spec.version,
        "params": game.params(),
        "start": game.position_text(&game.start()),
        "actions": spec.actions,
        "observation": [spec.planes(), spec.lattice[0], spec.lattice[1]],
        "features": spec.features(),
        "symmetries": spec.symmetries.len(),
        "pretrained": is_pretrained(spec.name),
    }))
}

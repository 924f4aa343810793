//! `turnstone games`: the games and their parameters.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use turnstone_env::games::{AnyGame, NAMES};
use turnstone_env::{Game, Params, with_game};

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
        println!("{:<12} {:>7} {:>8}  parameters and defaults", "game", "actions", "features");
        for game in &games {
            let spec = game.spec();
            println!("{:<12} {:>7} {:>8}  {}", game.name(), spec.actions, spec.features(), game.params());
        }
        Ok(ExitCode::SUCCESS)
    }
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
    }))
}

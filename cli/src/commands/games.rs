//! `turnstone games`: the games and their parameters.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use turnstone_agents::PlayableGame;

#[derive(Args, Debug)]
pub(crate) struct Games {
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

impl Games {
    pub(crate) fn run(&self, games: &turnstone_selfplay::Games) -> Result<ExitCode> {
        if self.json {
            let list: Vec<_> = games.defaults().map(|game| describe(&*game)).collect();
            println!("{}", serde_json::to_string(&list)?);
            return Ok(ExitCode::SUCCESS);
        }
        println!("{:<12} {:>7} {:>8} {:>10}  parameters and defaults", "game", "actions", "features", "pretrained");
        for game in games.defaults() {
            let spec = game.spec();
            let pretrained = if game.files().pretrained.is_some() { "yes" } else { "-" };
            let (name, params) = (game.name(), game.params());
            println!("{name:<12} {:>7} {:>8} {pretrained:>10}  {params}", spec.actions, spec.features());
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn describe(game: &dyn PlayableGame) -> serde_json::Value {
    let spec = game.spec();
    json!({
        "name": spec.name,
        "version": spec.version,
        "params": game.params(),
        "start": game.position_text(&game.start()),
        "actions": spec.actions,
        "observation": [spec.planes(), spec.lattice[0], spec.lattice[1]],
        "features": spec.features(),
        "symmetries": spec.symmetries.len(),
        "pretrained": game.files().pretrained.is_some(),
    })
}

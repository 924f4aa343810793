//! `turnstone games`: the games and their parameters.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use turnstone_agents::PlayableGame;
use turnstone_agents::sheet::parameters;
use turnstone_env::Params;

#[derive(Args, Debug)]
pub(crate) struct Games {
    /// Show this game only [default: all games]
    game: Option<String>,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

impl Games {
    pub(crate) fn run(&self, games: &turnstone_selfplay::Games) -> Result<ExitCode> {
        let games = match &self.game {
            Some(name) => vec![games.make(name, &Params::new())?],
            None => games.defaults().collect(),
        };
        if self.json {
            let list: Vec<_> = games.iter().map(|game| describe(&**game)).collect();
            println!("{}", serde_json::to_string(&list)?);
            return Ok(ExitCode::SUCCESS);
        }
        println!("{:<12} {:>7} {:>8} {:>10}", "game", "actions", "features", "pretrained");
        for game in &games {
            let spec = game.spec();
            let pretrained = if game.files().pretrained.is_some() { "yes" } else { "-" };
            println!("{:<12} {:>7} {:>8} {pretrained:>10}", game.name(), spec.actions, spec.features());
            for parameter in parameters(&**game) {
                let set = format!("{}={}", parameter.name, parameter.default);
                let explained = [parameter.range, parameter.meaning].map(|text| text.trim().to_owned());
                println!("  {set:<24} {}", explained.join("; ").trim_matches(|c| c == ';' || c == ' '));
            }
        }
        println!("\nset a parameter with --param KEY=VALUE; rules and notation: turnstone rules <game>");
        Ok(ExitCode::SUCCESS)
    }
}

fn describe(game: &dyn PlayableGame) -> serde_json::Value {
    let spec = game.spec();
    let parameters: Vec<_> = parameters(game)
        .into_iter()
        .map(|p| json!({ "name": p.name, "default": p.default, "range": p.range, "meaning": p.meaning }))
        .collect();
    json!({
        "name": spec.name,
        "version": spec.version,
        "params": game.params(),
        "parameters": parameters,
        "start": game.position_text(&game.start()),
        "actions": spec.actions,
        "observation": [spec.planes(), spec.lattice[0], spec.lattice[1]],
        "features": spec.features(),
        "symmetries": spec.symmetries.len(),
        "pretrained": game.files().pretrained.is_some(),
    })
}

//! `turnstone games`: the games and their parameters.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use turnstone_agents::PlayableGame;
use turnstone_agents::sheet::{Parameter, parameters};
use turnstone_base::terminal::wrapped;
use turnstone_env::Params;
use turnstone_selfplay::TrainableGame;

use crate::program_name::as_called;

/// Columns of a terminal.
const COLUMNS: usize = 80;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone games
      all games with their parameters
  turnstone games {konane} --json
      one game for a script")]
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
        print!("{}", table(&games));
        println!("{}", as_called("\nset a parameter with --param KEY=VALUE; its rules: turnstone rules <game>"));
        Ok(ExitCode::SUCCESS)
    }
}

/// The games with their parameters, in lines of at most [`COLUMNS`] columns.
fn table(games: &[Arc<dyn TrainableGame>]) -> String {
    let set = |parameter: &Parameter| format!("{}={}", parameter.name, parameter.default);
    let listed: Vec<_> = games.iter().map(|game| (game, parameters(&**game))).collect();
    let longest = listed.iter().flat_map(|(_, parameters)| parameters).map(|parameter| set(parameter).len()).max();
    let width = longest.unwrap_or(0);
    let mut text = format!("{:<12} {:>7} {:>8} {:>10}\n", "game", "actions", "features", "pretrained");
    for (game, parameters) in &listed {
        let spec = game.spec();
        let pretrained = if game.files().pretrained.is_some() { "yes" } else { "-" };
        text += &format!("{:<12} {:>7} {:>8} {pretrained:>10}\n", game.name(), spec.actions, spec.features());
        for parameter in parameters {
            let explained = [&parameter.range, &parameter.meaning].map(|text| text.trim().to_owned()).join("; ");
            let lines = wrapped(explained.trim_matches([';', ' ']), COLUMNS.saturating_sub(width + 4).max(20));
            for (i, line) in lines.split('\n').enumerate() {
                let set = if i == 0 { set(parameter) } else { String::new() };
                text += format!("  {set:<width$}  {line}").trim_end();
                text.push('\n');
            }
        }
    }
    text
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

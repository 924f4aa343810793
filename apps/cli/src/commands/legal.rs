//! `turnstone legal`: the legal actions of a position, or of many for scripts.

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use turnstone_base::line_io::Lines;
use turnstone_env::DynGame;
use turnstone_selfplay::Games;

use super::show::{describe, describe_json};
use crate::args::{GameArgs, PositionArgs};

#[derive(Args, Debug)]
#[command(after_help = r#"Examples:
  turnstone legal konane --moves "remove(5,4)"
      what the second player can remove
  turnstone legal {mancala} --json
      for a script"#)]
pub(crate) struct Legal {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    position: PositionArgs,
    /// Read one list of moves per line and answer each with one JSON object; implies --json
    #[arg(long, conflicts_with = "moves")]
    stdin: bool,
    /// Print JSON objects
    #[arg(long)]
    json: bool,
}

impl Legal {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = self.game.game(games)?;
        if self.stdin {
            self.answer_lines(&*game)?;
        } else {
            self.answer_once(&*game)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn answer_once(&self, game: &dyn DynGame) -> Result<()> {
        let state = self.position.state(game)?;
        if self.json {
            println!("{}", describe_json(game, &state));
        } else {
            println!("{}", describe(game, &state));
        }
        Ok(())
    }

    fn answer_lines(&self, game: &dyn DynGame) -> Result<()> {
        let mut lines = Lines::new(io::stdin().lock());
        while let Some(line) = lines.read()? {
            let state = line.map_err(anyhow::Error::from).and_then(|moves| self.position.state_after(game, moves));
            let reply =
                state.map_or_else(|e| json!({ "error": format!("{e:#}") }), |state| describe_json(game, &state));
            println!("{reply}");
        }
        Ok(())
    }
}

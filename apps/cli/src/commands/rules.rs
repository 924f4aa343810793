//! `turnstone rules`: the sheet of a game.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use turnstone_agents::sheet::plain;
use turnstone_base::terminal::terminal_size;
use turnstone_selfplay::Games;

use crate::args::GameArgs;
use crate::called::as_called;
use crate::output::reflowed;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone rules {mancala}
      rules, parameters, notation, and what is known of the game
  turnstone rules konane | less
      the same of another game, page by page")]
pub(crate) struct Rules {
    #[command(flatten)]
    game: GameArgs,
}

impl Rules {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = self.game.game(games)?;
        let Some(sheet) = game.files().sheet else { bail!("{} has no sheet of its rules", game.name()) };
        let sheet = plain(sheet);
        print!("{}", as_called(&terminal_size().map_or(sheet.clone(), |[width, _]| reflowed(&sheet, width))));
        Ok(ExitCode::SUCCESS)
    }
}

//! `turnstone rules`: the sheet of a game.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use turnstone_agents::sheet::{headings, plain, section};
use turnstone_selfplay::Games;

use crate::args::GameArgs;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone rules {mancala}
      the whole sheet
  turnstone rules konane --section Notation
      one section of it")]
pub(crate) struct Rules {
    #[command(flatten)]
    game: GameArgs,
    /// Print one section of the sheet only: Rules, Parameters, Board, Notation, ...
    #[arg(long, value_name = "HEADING")]
    section: Option<String>,
}

impl Rules {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = self.game.game(games)?;
        let Some(sheet) = game.files().sheet else { bail!("{} comes without a sheet of its rules", game.name()) };
        match &self.section {
            None => print!("{}", plain(sheet)),
            Some(heading) => match section(&*game, heading) {
                Some(text) => print!("{text}"),
                None => {
                    bail!("the sheet of {} has no section `{heading}`: {}", game.name(), headings(sheet).join(", "))
                }
            },
        }
        Ok(ExitCode::SUCCESS)
    }
}

//! `turnstone rules`: how to play a game, and its sheet.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use turnstone_agents::PlayableGame;
use turnstone_agents::sheet::{lessons, plain};
use turnstone_base::terminal::terminal_size;
use turnstone_env::board::Board;
use turnstone_selfplay::Games;

use crate::args::GameArgs;
use crate::output::reflowed;
use crate::program_name::as_called;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone rules {mancala}
      how to play, with pictures
  turnstone rules konane --full | less
      rules, parameters, notation, and what is known of the game, page by page")]
pub(crate) struct Rules {
    #[command(flatten)]
    game: GameArgs,
    /// Print the whole sheet: rules in detail, parameters, notation, and what is known of the game
    #[arg(long)]
    full: bool,
}

impl Rules {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = self.game.game(games)?;
        let Some(sheet) = game.files().sheet else { bail!("{} has no sheet of its rules", game.name()) };
        match how_to_play(&*game).filter(|_| !self.full) {
            Some(text) => println!("{text}"),
            None => {
                let sheet = plain(sheet);
                print!("{}", as_called(&terminal_size().map_or(sheet.clone(), |[width, _]| reflowed(&sheet, width))));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// How to play a game: sentences at the width of the terminal, with their pictures, and where there is more. None where its
/// sheet has no such sentences.
pub(crate) fn how_to_play(game: &dyn PlayableGame) -> Option<String> {
    let width = terminal_size().map_or(80, |[width, _]| width);
    let sentences = lessons(game).into_iter().enumerate().map(|(i, lesson)| {
        let sentence = reflowed(&format!("{}. {}\n", i + 1, lesson.text), width);
        sentence + "\n" + &lesson.picture.and_then(|picture| drawn(game, &picture)).unwrap_or_default()
    });
    let text: String = sentences.collect();
    let more = format!("more: turnstone rules {} --full", game.name());
    (!text.is_empty()).then(|| text + &as_called(&more))
}

/// An action and the board after it.
fn drawn(game: &dyn PlayableGame, [position, action]: &[String; 2]) -> Option<String> {
    let mut state = game.parse_position(position).ok()?;
    let action = game.parse_action(&state, action).ok()?;
    let name = game.display_text(&state, action);
    game.try_play(&mut state, action).ok()?;
    let board = Board { notes: Vec::new(), status: String::new(), ..game.board(&state, None) };
    let lines: String = board.text().lines().map(|line| format!("    {line}\n")).collect();
    Some(format!("   after {name}:\n{lines}\n"))
}

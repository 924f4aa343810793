//! `turnstone show`: a drawing of a position.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use turnstone_env::{AnyState, DynGame};
use turnstone_selfplay::Games;

use crate::args::{GameArgs, PositionArgs};

#[derive(Args, Debug)]
#[command(after_help = r#"Examples:
  turnstone show mancala --moves "B5 A3"
      the board after two moves
  turnstone show morabaraba --moves "a1 a7 a4" --svg > board.svg
      as a picture"#)]
pub(crate) struct Show {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    position: PositionArgs,
    /// Print the board as an SVG document instead
    #[arg(long)]
    svg: bool,
    /// Print one JSON object: what `turnstone legal --json` prints, and the drawing as text, or with --svg as SVG
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = self.game.game(games)?;
        let (state, last) = self.position.state_and_last(&*game)?;
        let drawing = if self.svg { game.draw_svg(&state, last) + "\n" } else { game.draw(&state) };
        if self.json {
            let mut object = describe_json(&*game, &state);
            object["drawing"] = drawing.into();
            println!("{object}");
        } else if self.svg {
            print!("{drawing}");
        } else {
            println!("{drawing}{}", describe(&*game, &state));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The position's text, and the mover with the legal actions, or the result of the game.
pub(super) fn describe(game: &dyn DynGame, state: &AnyState) -> String {
    let position = game.position_text(state);
    let Some(outcome) = game.outcome(state) else {
        return format!("position {position}\n{} to move: {}", game.mover(state), game.legal_texts(state).join(" "));
    };
    let margin = if outcome.margin == 0 { String::new() } else { format!(" by {}", outcome.margin.abs()) };
    let ended = match outcome.name() {
        "player1" => format!("player 1 wins{margin}"),
        "player2" => format!("player 2 wins{margin}"),
        _ if outcome.truncated => "draw: the limit of plies is reached".into(),
        _ => "draw".into(),
    };
    format!("position {position}\n{ended}")
}

/// [`describe`] for scripts.
pub(super) fn describe_json(game: &dyn DynGame, state: &AnyState) -> Value {
    let outcome = game.outcome(state);
    json!({
        "position": game.position_text(state),
        "mover": game.mover(state).number(),
        "legal": game.legal_texts(state),
        "outcome": outcome.map(|outcome| outcome.name()),
        "truncated": outcome.is_some_and(|outcome| outcome.truncated),
    })
}

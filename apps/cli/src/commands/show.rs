//! `turnstone show`: a position as a drawing, as its legal actions, or as the number of sequences of plies from it.

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value, json};
use turnstone_base::line_io::Lines;
use turnstone_env::{Action, AnyState, DynGame};
use turnstone_selfplay::Games;

use crate::args::{GamePosition, PlaceArgs};
use crate::output::print_json;

#[derive(Args, Debug)]
#[command(after_help = r#"Examples:
  turnstone show mancala --moves "B5 A3"
      the board after two moves
  turnstone show morabaraba --moves "a1 a7 a4" --svg > board.svg
      as a picture
  turnstone show --from game.json --ply 12
      a position of a saved game
  turnstone show {mancala} --legal --json
      the legal actions, for a script
  turnstone show {mancala} --perft 6
      the number of sequences of six plies"#)]
pub(crate) struct Show {
    #[command(flatten)]
    place: PlaceArgs,
    /// Print the board as an SVG document instead
    #[arg(long)]
    svg: bool,
    /// Print the legal actions without the drawing
    #[arg(long, conflicts_with = "svg")]
    legal: bool,
    /// Read a list of moves per line, played from the position, and answer each with a JSON object; implies --json
    #[arg(long, requires = "legal", conflicts_with_all = ["moves", "svg", "perft"])]
    stdin: bool,
    /// Print the number of sequences of this many plies instead
    #[arg(long, value_name = "PLIES", conflicts_with_all = ["svg", "legal"], value_parser = clap::value_parser!(u32).range(0..=1000))]
    perft: Option<u32>,
    /// Print the number below each first action as well
    #[arg(long, requires = "perft", conflicts_with_all = ["svg", "legal"])]
    divide: bool,
    /// Print one JSON object: position, mover, legal actions, outcome, and the drawing as text or SVG; with --perft, the
    /// position, depth and count, and with --divide the count below each first action
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let place = self.place.place(games)?;
        match self.perft {
            Some(depth) => self.count(&*place.game, &place.state, depth)?,
            None if self.stdin => answer_lines(&place)?,
            None => self.show(&*place.game, &place.state, place.last.as_ref())?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn show(&self, game: &dyn DynGame, state: &AnyState, last: Option<&(AnyState, Action)>) -> Result<()> {
        let drawing = match (self.legal, self.svg) {
            (true, _) => None,
            (_, true) => Some(game.draw_svg(state, last.map(|(before, action)| (before, *action))) + "\n"),
            (_, false) => Some(game.board(state, None).text()),
        };
        if self.json {
            let mut object = describe_json(game, state);
            drawing.into_iter().for_each(|drawing| object["drawing"] = drawing.into());
            print_json(&object);
            return Ok(());
        }
        drawing.iter().for_each(|drawing| print!("{drawing}"));
        if !self.svg {
            println!("{}", describe(game, state, drawing.is_none()));
        }
        Ok(())
    }

    /// Prints the number of sequences of `depth` plies.
    fn count(&self, game: &dyn DynGame, state: &AnyState, depth: u32) -> Result<()> {
        let below = if self.divide { divided(game, state, depth) } else { Vec::new() };
        let count = match below.is_empty() {
            true => game.perft(state, depth),
            false => below.iter().map(|(_, leaves)| leaves).sum(),
        };
        if self.json {
            let mut object = json!({ "position": game.position_text(state), "depth": depth, "count": count });
            if self.divide {
                let below = below.into_iter().map(|(action, leaves)| (game.action_text(state, action), leaves.into()));
                object["divide"] = below.collect::<Map<String, Value>>().into();
            }
            print_json(&object);
        } else {
            below.iter().for_each(|&(action, leaves)| println!("{} {leaves}", game.display_text(state, action)));
            println!("{count}");
        }
        Ok(())
    }
}

/// Answers each line of standard input, a list of moves from the position.
fn answer_lines(place: &GamePosition) -> Result<()> {
    let mut lines = Lines::new(io::stdin().lock());
    while let Some(line) = lines.read()? {
        let state = line.map_err(anyhow::Error::from).and_then(|moves| {
            let mut state = place.state.clone();
            place.game.play_text(&mut state, moves)?;
            Ok(state)
        });
        let reply =
            state.map_or_else(|e| json!({ "error": format!("{e:#}") }), |state| describe_json(&*place.game, &state));
        print_json(&reply);
    }
    Ok(())
}

/// Each legal action with the number of sequences of `depth` plies that begin with it; none at depth 0.
fn divided(game: &dyn DynGame, state: &AnyState, depth: u32) -> Vec<(Action, u64)> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let legal = game.legal_actions(state);
    let counted = legal.iter().map(|&action| {
        let mut after = state.clone();
        game.play(&mut after, action);
        (action, game.perft(&after, depth))
    });
    counted.collect()
}

/// The position's text and the legal actions, with whose turn it is or how the game ended unless a drawing says that.
pub(super) fn describe(game: &dyn DynGame, state: &AnyState, with_status: bool) -> String {
    let mut text = format!("position {}", game.position_text(state));
    if with_status {
        text += &format!("\n{}", game.spec().status(game.outcome(state), game.mover(state)));
    }
    let legal = game.legal_display(state);
    if legal.is_empty() { text } else { format!("{text}\nlegal: {}", legal.join(" ")) }
}

/// [`describe`] for scripts.
fn describe_json(game: &dyn DynGame, state: &AnyState) -> Value {
    let outcome = game.outcome(state);
    json!({
        "position": game.position_text(state),
        "mover": game.mover(state).number(),
        "legal": game.legal_texts(state),
        "outcome": outcome.map(|outcome| outcome.name()),
        "truncated": outcome.is_some_and(|outcome| outcome.truncated),
    })
}

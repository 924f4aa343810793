//! `turnstone perft`: the number of sequences of plies to a depth.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Map, json};
use turnstone_selfplay::Games;

use crate::args::{GameArgs, PositionArgs};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone perft {mancala} --depth 6
      sequences of six plies
  turnstone perft konane --depth 3 --divide
      counted for every first move")]
pub(crate) struct Perft {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    position: PositionArgs,
    /// Number of plies
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=1000))]
    depth: u32,
    /// Print the count below each first action as well
    #[arg(long)]
    divide: bool,
    /// Print one JSON object: position, depth and count, and with --divide the count below each first action
    #[arg(long)]
    json: bool,
}

impl Perft {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = self.game.game(games)?;
        let state = self.position.state(&*game)?;
        let mut below = Map::new();
        let mut count = 0;
        if self.divide && self.depth > 0 {
            for &action in &game.legal_actions(&state) {
                let mut after = state.clone();
                game.play(&mut after, action);
                let (name, leaves) = (game.action_text_in(&state, action), game.perft(&after, self.depth - 1));
                if !self.json {
                    println!("{name} {leaves}");
                }
                below.insert(name, leaves.into());
                count += leaves;
            }
        } else {
            count = game.perft(&state, self.depth);
        }
        if self.json {
            let mut object = json!({ "position": game.position_text(&state), "depth": self.depth, "count": count });
            if self.divide {
                object["divide"] = below.into();
            }
            println!("{object}");
        } else {
            println!("{count}");
        }
        Ok(ExitCode::SUCCESS)
    }
}

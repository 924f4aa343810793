//! `turnstone perft`: the number of sequences of plies to a depth.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use turnstone_selfplay::Games;

use crate::args::{GameArgs, PositionArgs};

#[derive(Args, Debug)]
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
}

impl Perft {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = self.game.game(games)?;
        let state = self.position.state(&*game)?;
        if !self.divide || self.depth == 0 {
            println!("{}", game.perft(&state, self.depth));
            return Ok(ExitCode::SUCCESS);
        }
        let mut count = 0;
        for &action in &game.legal_actions(&state) {
            let mut after = state.clone();
            game.play(&mut after, action);
            let leaves = game.perft(&after, self.depth - 1);
            println!("{} {leaves}", game.action_text(action));
            count += leaves;
        }
        println!("{count}");
        Ok(ExitCode::SUCCESS)
    }
}

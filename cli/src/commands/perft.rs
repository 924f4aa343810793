//! `turnstone perft`: the number of sequences of plies to a depth.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use turnstone_env::{Game, perft, with_game};

use crate::cli::{GameArgs, PositionArgs};

#[derive(Args, Debug)]
pub(crate) struct Perft {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    position: PositionArgs,
    /// Number of plies
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=1000))]
    depth: u32,
    /// Print the count below each first action too
    #[arg(long)]
    divide: bool,
}

impl Perft {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let any = self.game.game()?;
        let count = with_game!(&any, |game| {
            let state = self.position.state(game)?;
            if self.divide && self.depth > 0 {
                let parts = perft::divide(game, &state, self.depth);
                parts.iter().for_each(|(action, count)| println!("{} {count}", game.action_text(*action)));
                parts.iter().map(|(_, count)| count).sum()
            } else {
                perft::perft(game, &state, self.depth)
            }
        });
        println!("{count}");
        Ok(ExitCode::SUCCESS)
    }
}

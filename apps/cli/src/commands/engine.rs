//! `turnstone engine`: an agent as a Universal Game Interface engine.

use std::io;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use turnstone_selfplay::Games;

use crate::args::OptionalGameArgs;
use crate::engine::{Setup, serve};
use crate::output::Output;
use turnstone_agents::AgentSpec;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone engine mancala --agent az:pretrained
      answer commands on standard input
  turnstone engine konane --agent alphabeta:depth=6 --param size=6
      another agent on a smaller board")]
pub(crate) struct Engine {
    #[command(flatten)]
    game: OptionalGameArgs,
    /// The agent that plays
    #[arg(long, value_name = "AGENT", default_value = "alphabeta:time=1s")]
    agent: AgentSpec,
    /// Seed of random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl Engine {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = match self.game.game(&self.agent, games)? {
            Some(game) => game,
            None => games.defaults().next().context("the program has no games")?,
        };
        let setup = Setup { game, games: games.clone(), agent: self.agent.clone(), seed: self.seed, threads: None };
        serve(setup, io::stdin().lock(), &Output::new(io::stdout()))?;
        Ok(ExitCode::SUCCESS)
    }
}

//! `turnstone engine`: an agent behind the Universal Game Interface, for other programs to play with.

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use turnstone_env::Params;
use turnstone_env::games::{AnyGame, NAMES};

use crate::agents::AgentSpec;
use crate::cli::OptionalGameArgs;
use crate::engine::{Setup, serve};
use crate::talk::Output;

#[derive(Args, Debug)]
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
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let game = match self.game.game(&self.agent)? {
            Some(game) => game,
            None => AnyGame::new(NAMES[0], &Params::new())?,
        };
        let setup = Setup { game, agent: self.agent.clone(), seed: self.seed };
        serve(setup, io::stdin().lock(), &Output::new(io::stdout()))?;
        Ok(ExitCode::SUCCESS)
    }
}

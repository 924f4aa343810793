//! `turnstone analyse`: what a search with a network thinks of positions, as JSON lines.

use std::io;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use turnstone_selfplay::Games;

use crate::analysis::analyse;
use crate::args::OptionalGameArgs;
use crate::output::Output;
use turnstone_agents::{Agent, AgentSpec};
use turnstone_trainer::config::cores;

#[derive(Args, Debug)]
pub(crate) struct Analyse {
    #[command(flatten)]
    game: OptionalGameArgs,
    /// The agent that analyses, one with a network; its simulations are for queries that do not ask for a number
    #[arg(long, value_name = "AGENT", default_value = "az:pretrained")]
    agent: AgentSpec,
    /// Threads; the answers do not depend on them [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl Analyse {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let Some(game) = self.game.game(&self.agent, games)? else {
            bail!("name a game (see `turnstone games`), or an agent from a checkpoint, which knows its own");
        };
        let threads = self.threads.map_or_else(cores, usize::from);
        let agent = Agent::load(&self.agent, &*game)?;
        analyse(&*game, &agent, threads, io::stdin().lock(), &Output::new(io::stdout()))?;
        Ok(ExitCode::SUCCESS)
    }
}

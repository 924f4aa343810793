//! `turnstone analyse`: analysis of positions by a search with a network, as JSON lines.

use std::io;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use turnstone_base::machine::cores;
use turnstone_selfplay::Games;

use crate::analysis::analyse;
use crate::args::{OptionalGameArgs, load_agent, thread_count};
use crate::output::Output;
use turnstone_agents::AgentSpec;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone analyse mancala --agent az:pretrained,sims=400 < queries.jsonl
      a file of questions
  turnstone analyse --agent az:runs/mancala,sims=100
      questions about a run's own game")]
pub(crate) struct Analyse {
    #[command(flatten)]
    game: OptionalGameArgs,
    /// Agent with a network; its simulations apply to queries without a number of their own
    #[arg(long, value_name = "AGENT", default_value = "az:pretrained")]
    agent: AgentSpec,
    /// Number of threads; it does not change the answers [default: one per core]
    #[arg(long, value_parser = thread_count)]
    threads: Option<usize>,
}

impl Analyse {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let Some(game) = self.game.game(&self.agent, games)? else {
            bail!("name a game (see `turnstone games`), or an agent with a checkpoint, which determines it");
        };
        let threads = self.threads.unwrap_or_else(cores);
        let agent = load_agent(&self.agent, &*game)?;
        analyse(&*game, &agent, threads, io::stdin().lock(), &Output::new(io::stdout()))?;
        Ok(ExitCode::SUCCESS)
    }
}

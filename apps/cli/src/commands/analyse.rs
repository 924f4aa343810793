//! `turnstone analyse`: what a search finds in one position.

mod classical;
mod tree;

use std::process::ExitCode;

use anyhow::{Result, bail, ensure};
use clap::Args;
use turnstone_agents::{Agent, AgentSpec, PlayableGame};
use turnstone_base::machine::cores;
use turnstone_selfplay::Games;

use crate::args::{OptionalGameArgs, Place, PositionArgs, thread_count};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone analyse {mancala} --agent alphabeta:time=1s
      the best move, its line, and the work of the search
  turnstone analyse --from game.json --ply 12
      a position of a saved game, by the shipped network
  turnstone analyse --agent az:runs/mancala,sims=400 --json
      the start of a run's own game, for a script")]
pub(crate) struct Analyse {
    #[command(flatten)]
    game: OptionalGameArgs,
    #[command(flatten)]
    position: PositionArgs,
    /// Agent with a network, or a classical one: minimax:depth=4, alphabeta:depth=8, alphabeta:time=1s,
    /// breadthfirst:depth=2, bestfirst:nodes=1000
    #[arg(long, value_name = "AGENT", default_value = "az:pretrained")]
    agent: AgentSpec,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
    /// Number of threads that search with a network. The result repeats with one only [default: one per core]
    #[arg(long, value_parser = thread_count)]
    threads: Option<usize>,
}

impl Analyse {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let Place { game, state, .. } = self.game.place(&self.position, &self.agent, games)?;
        let game: &dyn PlayableGame = &*game;
        let (text, json) = if let AgentSpec::Classical(_) = self.agent {
            ensure!(self.threads.is_none(), "--threads is for networks: give `{}` the option threads=", self.agent);
            let found = classical::find(game, &state, &self.agent)?;
            (found.text(game), found.json(game))
        } else {
            let agent = Agent::load(&self.agent, game)?.with_threads(self.threads.unwrap_or_else(cores));
            if game.outcome(&state).is_some() {
                bail!("the game is over in this position");
            }
            let found = tree::analysis(game, &state, &agent)?;
            (tree::text(game, &state, &found), tree::json(game, &state, &found))
        };
        match self.json {
            true => println!("{json}"),
            false => println!("{text}"),
        }
        Ok(ExitCode::SUCCESS)
    }
}

//! `turnstone analyse`: what a search finds in one position, or answers to queries about many as JSON lines.

mod position;
mod table;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use serde_json::json;
use turnstone_agents::{Agent, AgentSpec, PlayableGame};
use turnstone_base::machine::cores;
use turnstone_selfplay::Games;

use self::position::find;
use self::table::searched;
use crate::analysis::analyse;
use crate::args::{GamePosition, OptionalGameArgs, PositionArgs, thread_count};
use crate::output::{Output, print_json, print_text};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone analyse {mancala} --agent alphabeta:time=1s
      one position: the best move, its line, and the work of the search
  turnstone analyse mancala
      the start, by the agent that comes with the program
  turnstone analyse --from game.json --ply 12
      a position of a saved game
  turnstone analyse mancala --agent az:pretrained,sims=400 < queries.jsonl
      a file of queries
  turnstone analyse --agent az:runs/mancala,sims=100 < queries.jsonl
      queries about a run's own game")]
pub(crate) struct Analyse {
    #[command(flatten)]
    game: OptionalGameArgs,
    #[command(flatten)]
    position: PositionArgs,
    /// Agent with a network, whose simulations are those of queries without a number of their own; or a classical agent
    /// for one position: minimax:depth=4, alphabeta:depth=8, alphabeta:time=1s, breadthfirst:depth=2, bestfirst:nodes=1000
    #[arg(long, value_name = "AGENT", default_value = "az:pretrained")]
    agent: AgentSpec,
    /// Print one JSON object, as it is done without a terminal for networks
    #[arg(long)]
    json: bool,
    /// Number of threads, with a network. It does not change the answers to queries; one position is searched by all threads
    /// together, whose result repeats with one only [default: one per core]
    #[arg(long, value_parser = thread_count)]
    threads: Option<usize>,
}

impl Analyse {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let place = self.game.place(&self.position, &self.agent, games)?;
        if self.agent.classical().is_some() {
            ensure!(self.threads.is_none(), "--threads is for networks: give `{}` the option threads=", self.agent);
            self.print_found(&place)?;
        } else {
            self.answer(&place)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Prints what a classical search finds in the position.
    fn print_found(&self, GamePosition { game, state, .. }: &GamePosition) -> Result<()> {
        let game: &dyn PlayableGame = &**game;
        let found = find(game, state, &self.agent)?;
        match self.json {
            true => print_json(&found.json(game)),
            false => println!("{}", found.text(game)),
        }
        Ok(())
    }

    /// Answers the queries of standard input. On a terminal, where nobody types them, and where a position is given, it answers
    /// about that one.
    fn answer(&self, GamePosition { game, state, .. }: &GamePosition) -> Result<()> {
        let game: &dyn PlayableGame = &**game;
        let threads = self.threads.unwrap_or_else(cores);
        let agent = Agent::load(&self.agent, game)?;
        let output = Output::new(io::stdout());
        if !self.position.is_given() && !io::stdin().is_terminal() {
            return analyse(game, &agent, threads, io::stdin().lock(), &output);
        }
        let agent = agent.with_threads(threads);
        if !self.json
            && io::stdout().is_terminal()
            && let Some(table) = searched(game, state, &agent)?
        {
            print_text(&table);
            return Ok(());
        }
        let position = game.position_text(state);
        let query = json!({ "id": "position", "position": position }).to_string();
        analyse(game, &agent, 1, query.as_bytes(), &output)
    }
}

//! `turnstone search`: a classical search of a position, with its result and statistics.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use serde_json::json;
use turnstone_env::AnyState;
use turnstone_search::classic::SearchResult;
use turnstone_selfplay::Games;

use crate::args::{GameArgs, PositionArgs};
use turnstone_agents::{AgentSpec, PlayableGame};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone search morris --agent alphabeta:depth=5
      the best move and its line
  turnstone search {mancala} --agent alphabeta:time=1s --stats
      with nodes, cutoffs and time")]
pub(crate) struct Search {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    position: PositionArgs,
    /// Classical agent: minimax:depth=4, alphabeta:depth=8, alphabeta:time=1s, breadthfirst:depth=2, bestfirst:nodes=1000
    #[arg(long, value_name = "AGENT")]
    agent: AgentSpec,
    /// Print the statistics of the search as well
    #[arg(long)]
    stats: bool,
    /// Print one JSON object, including the statistics
    #[arg(long)]
    json: bool,
}

impl Search {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = self.game.game(games)?;
        self.search(&*game)
    }

    fn search(&self, game: &dyn PlayableGame) -> Result<ExitCode> {
        let AgentSpec::Classical(spec) = &self.agent else {
            bail!("agent `{}` does no classical search; try alphabeta:depth=8", self.agent);
        };
        let mut search = game.classical_search(spec).map_err(|fault| anyhow!("agent `{}`: {fault}", self.agent))?;
        let state = self.position.state(game)?;
        let start = Instant::now();
        let found = search.find(&state);
        let time = start.elapsed();
        let estimate = search.static_score(&state);
        if self.json {
            println!("{}", self.record(game, &state, &found, estimate, search.heuristic(), time));
            return Ok(ExitCode::SUCCESS);
        }
        let action =
            found.action.map_or_else(|| "none, the game is over".to_owned(), |a| game.action_text_in(&state, a));
        println!("best action   {action}\nscore         {:+} for player 1", found.score);
        println!("line          {}", game.line_texts(&state, &found.line).join(" "));
        if self.stats {
            let evaluation = search.heuristic();
            println!("static        {estimate:+} for player 1, by {evaluation}");
            print_work(&found, time);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn record(
        &self,
        game: &dyn PlayableGame,
        state: &AnyState,
        found: &SearchResult,
        estimate: i32,
        heuristic: &str,
        time: Duration,
    ) -> serde_json::Value {
        let stats = found.stats;
        json!({
            "game": game.name(),
            "position": game.position_text(state),
            "agent": self.agent.to_string(),
            "action": found.action.map(|action| game.action_text_in(state, action)),
            "score": found.score,
            "complete": found.complete,
            "line": game.line_texts(state, &found.line),
            "heuristic": heuristic,
            "static": estimate,
            "evaluated": stats.evaluated,
            "nodes": stats.nodes,
            "expanded": stats.expanded,
            "cutoffs": stats.cutoffs,
            "branching": stats.branching(),
            "depth": found.depth,
            "seconds": time.as_secs_f64(),
            "nodes_per_second": rate(stats.nodes, time),
        })
    }
}

/// Prints the statistics that the sources of the games ask for.
fn print_work(found: &SearchResult, time: Duration) {
    let stats = found.stats;
    let share = if found.complete { ", to the end of every game that matters" } else { "" };
    println!("depth         {}{share}", found.depth);
    println!("evaluated     {} positions by static estimation", stats.evaluated);
    println!("nodes         {} positions visited, {} of them expanded", stats.nodes, stats.expanded);
    println!("cutoffs       {}", stats.cutoffs);
    println!("branching     {:.2} actions per position expanded, on average", stats.branching());
    println!("time          {:.3} s, {:.1} million nodes/s", time.as_secs_f64(), rate(stats.nodes, time) / 1e6);
}

/// Nodes per second.
pub(super) fn rate(nodes: u64, time: Duration) -> f64 {
    nodes as f64 / time.as_secs_f64().max(1e-9)
}

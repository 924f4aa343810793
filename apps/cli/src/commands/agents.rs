//! `turnstone agents`: the kinds of agents and their options.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use turnstone_agents::agent_kinds;

use crate::output::wrapped;

/// Columns of a terminal.
const COLUMNS: usize = 80;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone agents
      all kinds of agents with their options
  turnstone arena {mancala} alphabeta:depth=6 mcts:sims=200
      a match between two of them")]
pub(crate) struct Agents {
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

impl Agents {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let kinds = agent_kinds();
        if self.json {
            let option = |option: &turnstone_agents::OptionInfo| json!({ "name": option.name, "values": option.values, "help": option.help });
            let list: Vec<_> = kinds
                .iter()
                .map(|kind| json!({ "name": kind.name, "about": kind.about, "options": kind.options.iter().map(option).collect::<Vec<_>>() }))
                .collect();
            println!("{}", serde_json::to_string(&list)?);
            return Ok(ExitCode::SUCCESS);
        }
        for kind in kinds {
            println!("{}", wrapped(&format!("{:<14}{}", kind.name, kind.about), COLUMNS));
            for option in kind.options {
                println!("{}", wrapped(&format!("  {:<12}{}: {}", option.name, option.help, option.values), COLUMNS));
            }
        }
        println!("\na spec is NAME:OPTION=VALUE,OPTION=VALUE, as in alphabeta:depth=6,hash=64");
        Ok(ExitCode::SUCCESS)
    }
}

//! `turnstone agents`: the kinds of agents and their options.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use turnstone_agents::{KindInfo, agent_kinds};
use turnstone_base::settings::Setting;
use turnstone_base::terminal::wrapped;

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
        let mut kinds = agent_kinds();
        if self.json {
            let option = |option: &Setting<'_>| json!({ "name": option.name(), "values": option.expected(), "help": option.help() });
            let kind = |kind: &mut KindInfo| {
                let options: Vec<_> = kind.options().iter().map(option).collect();
                json!({ "name": kind.name, "about": kind.about, "options": options })
            };
            println!("{}", serde_json::to_string(&kinds.iter_mut().map(kind).collect::<Vec<_>>())?);
            return Ok(ExitCode::SUCCESS);
        }
        for kind in &mut kinds {
            println!("{}", wrapped(&format!("{:<16}{}", kind.name, kind.about), COLUMNS));
            for option in kind.options() {
                let line = format!("  {:<14}{} ({})", option.name(), option.help(), option.expected());
                println!("{}", wrapped(&line, COLUMNS));
            }
        }
        println!("\na spec is NAME:OPTION=VALUE,OPTION=VALUE, as in alphabeta:depth=6,hash=64");
        Ok(ExitCode::SUCCESS)
    }
}

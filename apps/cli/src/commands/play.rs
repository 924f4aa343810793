//! `turnstone play`: one game between two agents, people included, the board drawn after every move.

mod notation;
mod command;
mod prompt;
mod view;
mod screen;
mod adviser;
mod session;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use turnstone_base::machine::cores;
use turnstone_selfplay::Games;

use self::session::{Session, Settings};
use crate::args::{GamePosition, PlaceArgs};
use crate::output::print_json;
use turnstone_agents::{Agent, AgentSpec, PlayableGame, Role, Search, levels};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone play mancala --p2 level:3
      against the third of eight levels
  turnstone play mancala --p2 az:pretrained
      against the strongest agent that comes with the program
  turnstone play {morris} --p1 alphabeta:depth=4 --p2 human
      let alpha-beta begin
  turnstone play --from game.json --ply 12 --p2 az:pretrained
      on from a position of a saved game

At the prompt: moves, in short too (`b3`, `5,4`, `#2`), help, moves, undo, hint, board, save, rules, resign, quit.
A percentage is a probability as the player or the adviser beside it sees it. NO_COLOR=1 switches colours off.")]
pub(crate) struct Play {
    #[command(flatten)]
    place: PlaceArgs,
    /// Agent of player 1: human, random, minimax:depth=6, alphabeta:depth=8, mcts:sims=200, az:<checkpoint>,sims=100,
    /// az:pretrained
    #[arg(long, value_name = "AGENT", default_value = "human")]
    p1: AgentSpec,
    /// Agent of player 2
    #[arg(long, value_name = "AGENT", default_value = "human")]
    p2: AgentSpec,
    /// Stop after this many moves of both players together
    #[arg(long, value_name = "N")]
    max_moves: Option<usize>,
    /// Seed of random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print the game as one JSON object instead of boards
    #[arg(long)]
    json: bool,
}

impl Play {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let agents = [&self.p1, &self.p2];
        let GamePosition { game, state, .. } = self.place.place_of(&agents, games)?;
        let settings = Settings {
            names: [self.p1.to_string(), self.p2.to_string()],
            shown: [shown(&*game, &self.p1)?, shown(&*game, &self.p2)?],
            max_moves: self.max_moves,
            seed: self.seed,
            quiet: self.json,
        };
        let agents = [self.search(&*game, &self.p1)?, self.search(&*game, &self.p2)?];
        let mut session = Session::new(&*game, agents, settings, state)?;
        session.run()?;
        if self.json {
            print_json(&json!(session.record()));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The agent's search, or `None` for a person.
    fn search(&self, game: &dyn PlayableGame, spec: &AgentSpec) -> Result<Option<Box<dyn Search>>> {
        if !spec.is_human() {
            let is_for_a_person = self.p1.is_human() || self.p2.is_human();
            // A level's strength was measured with one.
            let is_level = matches!(spec.role(), Role::Level(_));
            let threads = if is_for_a_person && !is_level { cores() } else { 1 };
            let agent = Agent::load(spec, game)?;
            let mut search = agent.search(game, 1)?;
            search.set_threads(agent.spec.threads().number().unwrap_or(threads));
            return Ok(Some(search));
        }
        if self.json {
            bail!("a person cannot play with --json: give --p1 and --p2 other agents");
        }
        Ok(None)
    }
}

/// An agent as people see it: a level with its strength.
fn shown(game: &dyn PlayableGame, spec: &AgentSpec) -> Result<String> {
    let Role::Level(number) = spec.role() else { return Ok(spec.to_string()) };
    let level = levels(game)?.into_iter().find(|level| level.number == number);
    Ok(level.map_or_else(|| spec.to_string(), |level| format!("{level} ({})", level.agent)))
}

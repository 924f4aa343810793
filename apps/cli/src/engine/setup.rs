//! Game, agent, seed and threads of the engine, given on the command line and changed by `setoption`.

use std::sync::Arc;

use anyhow::{Result, anyhow};

use turnstone_agents::{Agent, AgentSpec, PlayableGame, Role, Search, most_threads};
use turnstone_selfplay::{Games, TrainableGame};

use crate::args::checkpoint_game;

/// The engine's options, always valid together.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The game with its parameters.
    pub game: Arc<dyn TrainableGame>,
    /// The games that can be selected.
    pub games: Games,
    /// The agent that plays.
    pub agent: AgentSpec,
    /// Seed of random choices.
    pub seed: u64,
    /// Threads of a search, instead of the agent's own number.
    pub threads: Option<usize>,
}

impl Setup {
    /// Formats the `option` lines: game, agent, seed, threads, and the parameters of the game.
    pub(super) fn options(&self) -> Vec<String> {
        let games = self.games.names().map(|name| format!(" var {name}")).collect::<String>();
        let mut options = vec![
            format!("option name Game type combo default {}{games}", self.game.name()),
            format!("option name Agent type string default {}", self.agent),
            format!("option name Seed type spin default {} min 0 max {}", self.seed, u64::MAX),
            format!("option name Threads type spin default {} min 1 max {}", self.threads(), most_threads()),
        ];
        let params = self.game.params();
        options.extend(params.iter().map(|(key, value)| format!("option name {key} type string default {value}")));
        options
    }

    /// Returns the setup with one option changed. An agent with a checkpoint file changes the game to that of the
    /// checkpoint.
    ///
    /// # Errors
    /// The option is unknown, or its value is invalid or does not go with the other options.
    pub(super) fn with(&self, name: &str, value: &str) -> Result<Self> {
        let mut changed = self.clone();
        match name.to_ascii_lowercase().as_str() {
            "game" => changed.game = self.games.make(value, &turnstone_env::Params::new())?,
            "agent" => {
                changed.agent = value.parse()?;
                if let Some(game) = checkpoint_game(&changed.agent, &self.games)? {
                    changed.game = game;
                }
            }
            "threads" => {
                let threads = value.parse().ok().filter(|threads| (1..=most_threads()).contains(threads));
                let fault = || anyhow!("Threads must be a whole number from 1 to {}, four per core", most_threads());
                changed.threads = Some(threads.ok_or_else(fault)?);
            }
            "seed" => changed.seed = value.parse().map_err(|_| anyhow!("Seed must be a whole number"))?,
            _ if self.game.params().iter().any(|(key, _)| key == name) => {
                changed.game = self.games.make(self.game.name(), &self.game.params().with(name, value))?;
            }
            _ => return Err(anyhow!("unknown option `{}`", turnstone_env::shortened(name))),
        }
        changed.agent_for(&*changed.game)?;
        Ok(changed)
    }

    /// Threads of a search.
    fn threads(&self) -> usize {
        self.threads.or(self.agent.threads().number()).unwrap_or(1)
    }

    /// Creates the agent's search.
    ///
    /// # Errors
    /// The agent cannot play the game.
    pub(super) fn search(&self, game: &dyn PlayableGame) -> Result<Box<dyn Search>> {
        let mut search = self.agent_for(game)?.search(game, 1)?;
        search.set_threads(self.threads());
        Ok(search)
    }

    /// Loads the agent for the game.
    ///
    /// # Errors
    /// The agent cannot play the game.
    fn agent_for(&self, game: &dyn PlayableGame) -> Result<Agent> {
        match self.agent.role() {
            Role::Person => Err(anyhow!("agent `human`: a person can only `play`")),
            Role::Program => Err(anyhow!("agent `{}`: it is an engine already", self.agent)),
            Role::Player | Role::Level(_) => Ok(Agent::load(&self.agent, game)?),
        }
    }
}

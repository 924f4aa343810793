//! What is played and by whom: chosen on the command line, changed by `setoption`.

use anyhow::{Result, anyhow};
use turnstone_env::games::{AnyGame, NAMES};
use turnstone_env::with_game;

use crate::agents::{Agent, AgentSpec, Playable};

/// The engine's options. Every one is valid together with the others.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The game with its parameters.
    pub game: AnyGame,
    /// Who plays.
    pub agent: AgentSpec,
    /// Seed of random choices.
    pub seed: u64,
}

impl Setup {
    /// The `option` lines: those of every game, and the parameters of this one.
    pub(super) fn options(&self) -> Vec<String> {
        let games = NAMES.iter().map(|name| format!(" var {name}")).collect::<String>();
        let mut options = vec![
            format!("option name Game type combo default {}{games}", self.game.name()),
            format!("option name Agent type string default {}", self.agent),
            format!("option name Seed type spin default {} min 0 max {}", self.seed, u64::MAX),
        ];
        let params = self.game.params();
        options.extend(params.iter().map(|(key, value)| format!("option name {key} type string default {value}")));
        options
    }

    /// The setup with one option changed. An agent from a checkpoint brings its game with it.
    ///
    /// # Errors
    /// There is no such option, or it cannot have this value beside the others.
    pub(super) fn with(&self, name: &str, value: &str) -> Result<Self> {
        let mut changed = self.clone();
        match name.to_ascii_lowercase().as_str() {
            "game" => changed.game = AnyGame::new(value, &turnstone_env::Params::new())?,
            "agent" => {
                changed.agent = value.parse()?;
                if let Some(game) = changed.agent.checkpoint_game()? {
                    changed.game = game;
                }
            }
            "seed" => changed.seed = value.parse().map_err(|_| anyhow!("Seed must be a whole number"))?,
            _ if self.game.params().iter().any(|(key, _)| key == name) => {
                changed.game = AnyGame::new(self.game.name(), &self.game.params().with(name, value))?;
            }
            _ => return Err(anyhow!("unknown option `{}`", turnstone_env::shortened(name))),
        }
        with_game!(&changed.game, |game| changed.agent_for(game))?;
        Ok(changed)
    }

    /// The agent, made ready for the game.
    ///
    /// # Errors
    /// It does not play this game.
    pub(super) fn agent_for<G: Playable>(&self, game: &G) -> Result<Agent> {
        match &self.agent {
            AgentSpec::Human => Err(anyhow!("agent `human`: a person can only `play`")),
            AgentSpec::Engine(_) => Err(anyhow!("agent `{}`: it is an engine already", self.agent)),
            agent => Ok(Agent::load(agent, game)?),
        }
    }
}

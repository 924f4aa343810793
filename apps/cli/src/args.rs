//! Arguments shared by several commands: a game with its parameters, a position.

use std::path::Path;
use std::sync::{Arc, Once};

use anyhow::{Context, Result};
use clap::Args;
use turnstone_agents::{Agent, AgentError, AgentSpec, LoadedNetwork, PRETRAINED, PlayableGame};
use turnstone_base::terminal::print_stderr;
use turnstone_env::{Action, AnyState, DynGame, Params};
use turnstone_selfplay::{Games, TrainableGame};

/// A game and its parameters.
#[derive(Args, Clone, Debug)]
pub(crate) struct GameArgs {
    /// Name of the game (see `turnstone games`)
    game: String,
    /// Set a parameter of the game; may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = parse_param)]
    params: Vec<(String, String)>,
}

impl GameArgs {
    pub(crate) fn game(&self, games: &Games) -> Result<Arc<dyn TrainableGame>> {
        Ok(games.make(&self.game, &self.params())?)
    }

    /// The parameters given with `--param`.
    pub(crate) fn params(&self) -> Params {
        to_params(&self.params)
    }

    /// The TOML file given in place of a game's name, if any.
    pub(crate) fn file(&self) -> Option<&Path> {
        let path = Path::new(&self.game);
        path.extension().is_some_and(|extension| extension == "toml").then_some(path)
    }
}

/// A game and its parameters; without a name, the game of the agent's checkpoint.
#[derive(Args, Clone, Debug)]
pub(crate) struct OptionalGameArgs {
    /// Name of the game (see `turnstone games`) [default: that of the agent's checkpoint]
    game: Option<String>,
    /// Set a parameter of the game; may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = parse_param, requires = "game")]
    params: Vec<(String, String)>,
}

impl OptionalGameArgs {
    /// The named game, or else the game of the agent's checkpoint.
    pub(crate) fn game(&self, agent: &AgentSpec, games: &Games) -> Result<Option<Arc<dyn TrainableGame>>> {
        match &self.game {
            Some(name) => Ok(Some(games.make(name, &to_params(&self.params))?)),
            None => checkpoint_game(agent, games),
        }
    }
}

/// Parses a number of threads.
pub(crate) fn thread_count(text: &str) -> Result<usize, String> {
    const MOST: usize = 256;
    text.parse().ok().filter(|threads| (1..=MOST).contains(threads)).ok_or_else(|| format!("must be 1 to {MOST}"))
}

/// Reads what an agent's spec names, and says once on stderr if its file has no checksum.
pub(crate) fn load_agent(spec: &AgentSpec, game: &dyn PlayableGame) -> Result<Agent, AgentError> {
    let agent = Agent::load(spec, game)?;
    if let (AgentSpec::Az { checkpoint, .. }, Some(network)) = (spec, agent.network()) {
        note_unverified(checkpoint, network);
    }
    Ok(agent)
}

/// Says once on stderr if the file of a network has no checksum. The agents that come with the program need none.
pub(crate) fn note_unverified(checkpoint: &Path, network: &LoadedNetwork) {
    static SAID: Once = Once::new();
    if network.is_unverified() && checkpoint.as_os_str() != PRETRAINED {
        let path = checkpoint.display();
        SAID.call_once(|| print_stderr(format_args!("note: {path}: no checksum, since an earlier version wrote it")));
    }
}

/// The game of an agent's checkpoint. `None` if the agent has no checkpoint file.
pub(crate) fn checkpoint_game(agent: &AgentSpec, games: &Games) -> Result<Option<Arc<dyn TrainableGame>>> {
    let Some((name, params)) = agent.checkpoint_game()? else { return Ok(None) };
    Ok(Some(games.make(&name, &params).with_context(|| format!("agent `{agent}`"))?))
}

fn to_params(given: &[(String, String)]) -> Params {
    given.iter().fold(Params::new(), |params, (key, value)| params.with(key, value))
}

/// The options that name a game's parameters where they differ from the defaults: ` --param size=6`, or nothing.
pub(crate) fn param_options(game: &dyn DynGame) -> String {
    let (params, defaults) = (game.params(), game.default_params());
    let changed = params.iter().filter(|param| !defaults.iter().any(|default| default == *param));
    changed.map(|(key, value)| format!(" --param {key}={value}")).collect()
}

fn parse_param(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// A position: a start and moves from there.
#[derive(Args, Clone, Debug)]
pub(crate) struct PositionArgs {
    /// Position to start from, in the game's notation [default: the start of the game]
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Actions to play from there, separated by spaces
    #[arg(long, value_name = "ACTIONS", default_value = "", hide_default_value = true)]
    moves: String,
}

impl PositionArgs {
    /// Whether a position or moves are given.
    pub(crate) fn is_given(&self) -> bool {
        self.position.is_some() || !self.moves.is_empty()
    }

    pub(crate) fn state(&self, game: &dyn DynGame) -> Result<AnyState> {
        self.state_after(game, &self.moves)
    }

    /// The state, and the last of the moves.
    pub(crate) fn state_and_last(&self, game: &dyn DynGame) -> Result<(AnyState, Option<Action>)> {
        let mut state = self.state_after(game, "")?;
        let last = game.play_text(&mut state, &self.moves)?.last().copied();
        Ok((state, last))
    }

    /// The state after `moves` in place of those of `--moves`.
    pub(crate) fn state_after(&self, game: &dyn DynGame, moves: &str) -> Result<AnyState> {
        let mut state = match &self.position {
            Some(text) => game.parse_position(text)?,
            None => game.start(),
        };
        game.play_text(&mut state, moves)?;
        Ok(state)
    }
}

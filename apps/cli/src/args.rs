//! Arguments shared by several commands: a game with its parameters, a position.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use turnstone_agents::{Agent, AgentError, AgentSpec, PlayableGame};
use turnstone_arena::{Replay, SavedGame};
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
    pub(crate) fn new(game: &str, params: &[(String, String)]) -> Self {
        Self { game: game.to_owned(), params: params.to_owned() }
    }

    pub(crate) fn game(&self, games: &Games) -> Result<Arc<dyn TrainableGame>> {
        Ok(games.make(&self.game, &self.params())?)
    }

    /// [`game_of`] these agents.
    pub(crate) fn game_of(&self, agents: &[&AgentSpec], games: &Games) -> Result<Arc<dyn TrainableGame>> {
        game_of(&self.game, &self.params, agents, games)
    }

    /// The parameters given with `--param`.
    pub(crate) fn params(&self) -> Params {
        to_params(&self.params)
    }

    /// The TOML file given instead of a game's name, if any.
    pub(crate) fn file(&self) -> Option<&Path> {
        let path = Path::new(&self.game);
        path.extension().is_some_and(|extension| extension == "toml").then_some(path)
    }
}

/// Parameters of the games of a benchmark.
#[derive(Args, Clone, Debug)]
pub(crate) struct ParamArgs {
    /// Set a parameter of the game; may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = parse_param)]
    params: Vec<(String, String)>,
}

impl ParamArgs {
    pub(crate) fn params(&self) -> Params {
        to_params(&self.params)
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

    /// A position with its game: that of the saved game, or else [`OptionalGameArgs::game`].
    pub(crate) fn place(&self, position: &PositionArgs, agent: &AgentSpec, games: &Games) -> Result<GamePosition> {
        let named = || {
            self.game(agent, games)?
                .context("name a game (see `turnstone games`), or an agent with a checkpoint, which determines it")
        };
        position.place(self.game.as_deref(), &self.params, games, named)
    }
}

/// A game and its parameters, and a position of it.
#[derive(Args, Clone, Debug)]
pub(crate) struct PlaceArgs {
    /// Name of the game (see `turnstone games`) [default: that of the saved game]
    #[arg(required_unless_present = "from")]
    game: Option<String>,
    /// Set a parameter of the game; may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = parse_param, requires = "game")]
    params: Vec<(String, String)>,
    #[command(flatten)]
    position: PositionArgs,
}

impl PlaceArgs {
    pub(crate) fn place(&self, games: &Games) -> Result<GamePosition> {
        self.place_of(&[], games)
    }

    /// [`PlaceArgs::place`] in the game that these agents play.
    pub(crate) fn place_of(&self, agents: &[&AgentSpec], games: &Games) -> Result<GamePosition> {
        let named = || {
            let name = self.game.as_ref().context("name a game (see `turnstone games`)")?;
            game_of(name, &self.params, agents, games)
        };
        self.position.place(self.game.as_deref(), &self.params, games, named)
    }

    /// Whether a position, a saved game or moves are given.
    pub(crate) fn is_given(&self) -> bool {
        self.position.is_given()
    }
}

/// Parses a number of threads.
pub(crate) fn thread_count(text: &str) -> Result<usize, String> {
    const MOST: usize = 256;
    text.parse().ok().filter(|threads| (1..=MOST).contains(threads)).ok_or_else(|| format!("must be 1 to {MOST}"))
}

/// The agent of this spec, or else the strongest that every game has.
pub(crate) fn load_adviser(spec: Option<&AgentSpec>, game: &dyn PlayableGame) -> Result<Agent, AgentError> {
    let fixed = |text: &str| text.parse::<AgentSpec>().expect("a spec of this program");
    match spec {
        Some(spec) => Agent::load(spec, game),
        // The agent that comes with the program does not fit all parameters of a game.
        None => Agent::load(&fixed("az:pretrained,sims=200"), game)
            .or_else(|_| Agent::load(&fixed("alphabeta:depth=4"), game)),
    }
}

/// The game of an agent's checkpoint. `None` if the agent has no checkpoint file.
pub(crate) fn checkpoint_game(agent: &AgentSpec, games: &Games) -> Result<Option<Arc<dyn TrainableGame>>> {
    let Some((name, params)) = agent.checkpoint_game()? else { return Ok(None) };
    Ok(Some(games.make(&name, &params).with_context(|| format!("agent `{agent}`"))?))
}

/// The game with the parameters of the first of these agents' checkpoints of it, where `given` has no other value.
/// Parameters that are not the defaults are said on stderr.
///
/// # Errors
/// There is no such game, or it does not have the parameters. What is wrong with an agent is left for its loading.
fn game_of(
    name: &str,
    given: &[(String, String)],
    agents: &[&AgentSpec],
    games: &Games,
) -> Result<Arc<dyn TrainableGame>> {
    let mut checkpoints = agents.iter().filter_map(|agent| Some((agent, agent.checkpoint_game().ok()??)));
    let Some((agent, (_, stored))) = checkpoints.find(|(_, (game, _))| game == name) else {
        return Ok(games.make(name, &to_params(given))?);
    };
    let params = given.iter().fold(stored, |params, (key, value)| params.with(key, value));
    let game = games.make(name, &params).with_context(|| format!("agent `{agent}`"))?;
    let taken = param_options(&*game);
    if !taken.is_empty() && given.is_empty() {
        print_stderr(format_args!("note: the game is that of {agent}:{taken}"));
    }
    Ok(game)
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

pub(crate) fn parse_param(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// A saved game and a ply of it.
#[derive(Args, Clone, Debug)]
pub(crate) struct SavedGameArgs {
    /// Take the game from a file: saved by `play` or the page, `games.jsonl` of a match, or a text with the moves of a game in
    /// each line
    #[arg(long, value_name = "FILE", conflicts_with = "position")]
    from: Option<PathBuf>,
    /// Number of the game in a file with several: as in the match, otherwise from 0
    #[arg(long, value_name = "N", requires = "from", conflicts_with = "position")]
    number: Option<usize>,
    /// Take the position after this many plies of the saved game [default: the last]
    #[arg(long, value_name = "N", requires = "from", conflicts_with = "position")]
    ply: Option<usize>,
}

impl SavedGameArgs {
    fn read(&self) -> Result<Option<NamedFile>> {
        let read = |path: &PathBuf| NamedFile::read(path, self.number);
        self.from.as_ref().map(read).transpose()
    }
}

/// A saved game with the file that it comes from.
pub(crate) struct NamedFile {
    path: PathBuf,
    pub(crate) saved: SavedGame,
}

impl NamedFile {
    pub(crate) fn read(path: &Path, number: Option<usize>) -> Result<Self> {
        Ok(Self { path: path.to_owned(), saved: SavedGame::read(path, number)? })
    }

    /// Its game, which must be the one that is named with its parameters, if any is.
    pub(crate) fn game(
        &self,
        named: Option<&str>,
        params: &[(String, String)],
        games: &Games,
    ) -> Result<Arc<dyn TrainableGame>> {
        let path = self.path.display();
        let Some(own) = &self.saved.game else {
            let Some(name) = named else { bail!("{path}: it has moves only: name the game (see `turnstone games`)") };
            return Ok(games.make(name, &to_params(params))?);
        };
        if let Some(name) = named.filter(|name| name != own) {
            bail!("{path}: it is a game of {own}, not of {name}");
        }
        let game = games.make(own, &self.saved.params).with_context(|| path.to_string())?;
        let all = params.iter().fold(self.saved.params.clone(), |all, (key, value)| all.with(key, value));
        let asked = games.make(own, &all)?;
        if asked.params() != game.params() {
            bail!("{path}: it was played with {}, not with {}", game.params(), asked.params());
        }
        Ok(game)
    }

    /// The game's positions.
    pub(crate) fn replay(&self, game: &dyn DynGame) -> Result<Replay> {
        self.saved.replay(game).with_context(|| self.path.display().to_string())
    }
}

/// A position: a start or a saved game, and moves from there.
#[derive(Args, Clone, Debug)]
pub(crate) struct PositionArgs {
    /// Position to start from, in the game's notation [default: the start of the game]
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    #[command(flatten)]
    from: SavedGameArgs,
    /// Actions to play from there, separated by spaces
    #[arg(long, value_name = "ACTIONS", default_value = "", hide_default_value = true)]
    moves: String,
}

/// A position as it is given, with its game.
pub(crate) struct GamePosition {
    pub(crate) game: Arc<dyn TrainableGame>,
    /// The position.
    pub(crate) state: AnyState,
    /// The position before it, and the action that was played there.
    pub(crate) last: Option<(AnyState, Action)>,
}

impl PositionArgs {
    /// Whether a position, a saved game or moves are given.
    pub(crate) fn is_given(&self) -> bool {
        self.position.is_some() || self.from.from.is_some() || !self.moves.is_empty()
    }

    /// The position and its game: that of the saved game, which must be the named one if any is, or else the one of
    /// `otherwise`.
    pub(crate) fn place(
        &self,
        name: Option<&str>,
        params: &[(String, String)],
        games: &Games,
        otherwise: impl FnOnce() -> Result<Arc<dyn TrainableGame>>,
    ) -> Result<GamePosition> {
        let Some(file) = self.from.read()? else {
            let game = otherwise()?;
            let start = match &self.position {
                Some(text) => game.parse_position(text)?,
                None => game.start(),
            };
            return self.moved(game, start, None);
        };
        let game = file.game(name, params, games)?;
        let Replay { mut positions, actions } = file.replay(&*game)?;
        let ply = self.from.ply.unwrap_or(actions.len());
        if ply > actions.len() {
            bail!("{}: there is no position after {ply} plies: the game has {}", file.path.display(), actions.len());
        }
        let last = ply.checked_sub(1).map(|before| (positions[before].clone(), actions[before]));
        self.moved(game, positions.swap_remove(ply), last)
    }

    /// The position after the moves of `--moves`.
    fn moved(
        &self,
        game: Arc<dyn TrainableGame>,
        mut state: AnyState,
        mut last: Option<(AnyState, Action)>,
    ) -> Result<GamePosition> {
        for text in self.moves.split_whitespace() {
            let before = state.clone();
            last = Some((before, game.play_typed(&mut state, text)?));
        }
        Ok(GamePosition { game, state, last })
    }
}

//! The command line.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use turnstone_env::games::AnyGame;
use turnstone_env::{Action, Game, Params, play_text};

use crate::agents::AgentSpec;
use crate::commands;

/// Learn traditional two-player board games by self-play, and play them
#[derive(Parser, Debug)]
#[command(name = "turnstone", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List the games and their parameters
    Games(commands::games::Games),
    /// Draw a position
    Show(commands::show::Show),
    /// List the legal actions of a position
    Legal(commands::legal::Legal),
    /// Count the sequences of plies from a position
    Perft(commands::perft::Perft),
    /// Search a position with a classical agent
    Search(commands::search::Search),
    /// Play a game between two agents, people included
    Play(commands::play::Play),
    /// Let other programs play with an agent: the Universal Game Interface on standard input and output
    Engine(commands::engine::Engine),
    /// Let other programs ask what an agent thinks of positions: JSON lines, many at once
    #[command(visible_alias = "analyze")]
    Analyse(commands::analyse::Analyse),
    /// Examine a config before it is trained: slips, memory, time
    Doctor(commands::doctor::Doctor),
    /// Train a network by self-play
    Train(commands::train::Train),
    /// Write a run's report: one HTML page
    Report(commands::report::Report),
    /// Write a checkpoint for other programs: safetensors, ONNX, or a bundle that plays
    Export(commands::export::Export),
    /// Play matches and tournaments between agents, or rate one on a ladder
    #[command(visible_alias = "match")]
    Arena(commands::arena::Arena),
    /// Compare an agent's moves with the exact solution of a small game
    Grade(commands::grade::Grade),
    /// Solve a game exactly
    Solve(commands::solve::Solve),
    /// Measure speed on this machine
    Bench(commands::bench::Bench),
    /// Mu Torere: the notebook's own functions
    #[command(name = "mu_torere")]
    MuTorere(commands::seeds::mu_torere::MuTorere),
    /// Mancala: the assignment's own functions
    Mancala(commands::seeds::mancala::Mancala),
    /// Morris: the handout's own generators and estimates
    Morris(commands::seeds::morris::Morris),
    /// Konane: Pyro's own move generator
    Konane(commands::seeds::konane::Konane),
    /// Morabaraba: the contest's own query functions
    Morabaraba(commands::seeds::morabaraba::Morabaraba),
    /// Play in Pyro's Konane world over TCP
    Pyro(commands::pyro::Pyro),
    /// Keep a Konane world for two of Pyro's players
    #[command(name = "pyro-server")]
    PyroServer(commands::pyro_server::PyroServer),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// Whatever went wrong, as one line that names it.
    pub fn run(&self) -> Result<ExitCode> {
        match &self.command {
            Command::Games(command) => command.run(),
            Command::Show(command) => command.run(),
            Command::Legal(command) => command.run(),
            Command::Perft(command) => command.run(),
            Command::Search(command) => command.run(),
            Command::Play(command) => command.run(),
            Command::Engine(command) => command.run(),
            Command::Analyse(command) => command.run(),
            Command::Doctor(command) => command.run(),
            Command::Train(command) => command.run(),
            Command::Report(command) => command.run(),
            Command::Export(command) => command.run(),
            Command::Arena(command) => command.run(),
            Command::Grade(command) => command.run(),
            Command::Solve(command) => command.run(),
            Command::Bench(command) => command.run(),
            Command::MuTorere(command) => command.run(),
            Command::Mancala(command) => command.run(),
            Command::Morris(command) => command.run(),
            Command::Konane(command) => command.run(),
            Command::Morabaraba(command) => command.run(),
            Command::Pyro(command) => command.run(),
            Command::PyroServer(command) => command.run(),
        }
    }
}

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
    pub(crate) fn game(&self) -> Result<AnyGame> {
        Ok(AnyGame::new(&self.game, &self.params())?)
    }

    /// The parameters that are set.
    pub(crate) fn params(&self) -> Params {
        to_params(&self.params)
    }

    /// The file that stands in place of a game's name.
    pub(crate) fn file(&self) -> Option<&Path> {
        let path = Path::new(&self.game);
        path.extension().is_some_and(|extension| extension == "toml").then_some(path)
    }
}

/// A game and its parameters, where something else may say which game it is.
#[derive(Args, Clone, Debug)]
pub(crate) struct OptionalGameArgs {
    /// Name of the game (see `turnstone games`); the agent's, if it is from a checkpoint
    game: Option<String>,
    /// Set a parameter of the game; may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = parse_param, requires = "game")]
    params: Vec<(String, String)>,
}

impl OptionalGameArgs {
    /// The game that is named, or else the one that the agent's checkpoint is for.
    pub(crate) fn game(&self, agent: &AgentSpec) -> Result<Option<AnyGame>> {
        match &self.game {
            Some(name) => Ok(Some(AnyGame::new(name, &to_params(&self.params))?)),
            None => Ok(agent.checkpoint_game()?),
        }
    }
}

fn to_params(given: &[(String, String)]) -> Params {
    given.iter().fold(Params::new(), |params, (key, value)| params.with(key, value))
}

fn parse_param(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// A position: where it starts, and moves from there.
#[derive(Args, Clone, Debug)]
pub(crate) struct PositionArgs {
    /// Position to start from, in the game's notation; the start of the game if absent
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Actions to play from there, separated by spaces
    #[arg(long, value_name = "ACTIONS", default_value = "", hide_default_value = true)]
    moves: String,
}

impl PositionArgs {
    /// Whether it is another position than the start.
    pub(crate) fn is_given(&self) -> bool {
        self.position.is_some() || !self.moves.is_empty()
    }

    pub(crate) fn state<G: Game>(&self, game: &G) -> Result<G::State> {
        self.state_after(game, &self.moves)
    }

    /// The state, and the last of the moves that led there.
    pub(crate) fn state_and_last<G: Game>(&self, game: &G) -> Result<(G::State, Option<Action>)> {
        let last = self.moves.split_whitespace().last().map(|text| game.parse_action(text)).transpose()?;
        Ok((self.state(game)?, last))
    }

    /// The state after other moves than those of `--moves`.
    pub(crate) fn state_after<G: Game>(&self, game: &G, moves: &str) -> Result<G::State> {
        let mut state = match &self.position {
            Some(text) => game.parse_position(text)?,
            None => game.start(),
        };
        play_text(game, &mut state, moves)?;
        Ok(state)
    }
}

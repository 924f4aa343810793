//! The command line.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use turnstone_selfplay::Games;

use crate::commands;
use crate::help::with_help;
use crate::usage::{advised, with_negative_numbers};

/// Version and commit: `0.1.0 (ab12cd34 2026-11-22)`.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("TURNSTONE_COMMIT"), ")");

/// Learn traditional two-player board games by self-play, and play them
#[derive(Parser, Debug)]
#[command(name = "turnstone", version = VERSION, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List the games, their parameters and ranges
    Games(commands::games::Games),
    /// Print the rules of a game, its parameters and its notation
    Rules(commands::rules::Rules),
    /// Draw a position
    Show(commands::show::Show),
    /// List the legal actions of a position
    Legal(commands::legal::Legal),
    /// Count the sequences of plies from a position
    Perft(commands::perft::Perft),
    /// Search a position with a classical agent
    Search(commands::search::Search),
    /// Play one game between two agents, people included
    Play(commands::play::Play),
    /// Run an agent as an engine for other programs (Universal Game Interface)
    Engine(commands::engine::Engine),
    /// Analyse positions for other programs: queries and answers as JSON lines
    #[command(visible_alias = "analyze")]
    Analyse(commands::analyse::Analyse),
    /// List what networks can run on: the processor, and GPUs if the program is built for them
    Devices(commands::devices::Devices),
    /// Check a config before training: mistakes, memory, disk space, time
    Doctor(commands::doctor::Doctor),
    /// Train a network by self-play
    Train(commands::train::Train),
    /// Play games of self-play and matches for leaders on other machines
    #[cfg(feature = "cluster")]
    Worker(commands::worker::Worker),
    /// Look at the runs and workers of a cluster
    #[cfg(feature = "cluster")]
    Cluster(commands::cluster::Cluster),
    #[cfg(not(feature = "cluster"))]
    #[command(hide = true, aliases = ["cluster"])]
    Worker(commands::absent::Absent),
    /// Train one run for every combination of values and rank them
    Sweep(commands::sweep::Sweep),
    /// Write the report of a run, or a comparison of runs, as one HTML page
    Report(commands::report::Report),
    /// Serve a page to play and analyse in a browser, and pages of all runs
    Serve(commands::serve::Serve),
    /// Export a checkpoint for other programs: safetensors, ONNX, or a Python bundle
    Export(commands::export::Export),
    /// Play matches and tournaments between agents, or rate one on a ladder
    #[command(visible_alias = "match")]
    Arena(commands::arena::Arena),
    /// Compare an agent's moves with exact values
    Grade(commands::grade::Grade),
    /// Compute exact values of a game or position
    Solve(commands::solve::Solve),
    /// Measure speed on this machine
    Bench(commands::bench::Bench),
    /// The functions and programs of the games' sources
    Reference {
        #[command(subcommand)]
        source: Source,
    },
    // The names by which these programs were called before they had a command of their own.
    #[command(flatten)]
    Source(Source),
    /// Play in Pyro's Konane world over TCP
    Pyro(commands::pyro::Pyro),
    /// Serve Pyro's Konane world for two players over TCP
    #[command(name = "pyro-server")]
    PyroServer(commands::pyro_server::PyroServer),
    /// Print a completion script for a shell
    Completions(commands::completions::Completions),
    /// Print the manual page, or write one for every command
    Man(commands::completions::Man),
}

/// The sources of the games.
#[derive(Subcommand, Debug)]
enum Source {
    /// Mu Torere: the notebook's own functions
    #[command(name = "mu_torere")]
    MuTorere(commands::reference::mu_torere::MuTorere),
    /// Mancala: the assignment's own functions
    Mancala(commands::reference::mancala::Mancala),
    /// Morris: the handout's own generators and estimates
    Morris(commands::reference::morris::Morris),
    /// Konane: Pyro's own move generator
    Konane(commands::reference::konane::Konane),
    /// Morabaraba: the contest's own query functions
    Morabaraba(commands::reference::morabaraba::Morabaraba),
}

impl Source {
    fn run(&self) -> Result<ExitCode> {
        match self {
            Self::MuTorere(command) => command.run(),
            Self::Mancala(command) => command.run(),
            Self::Morris(command) => command.run(),
            Self::Konane(command) => command.run(),
            Self::Morabaraba(command) => command.run(),
        }
    }
}

/// The definition of the command line, with its help in groups. The sources' programs, which have a command of their own,
/// are hidden.
pub(crate) fn definition() -> clap::Command {
    let sources: Vec<String> = {
        let program = Cli::command();
        let reference = program.find_subcommand("reference").expect("it is a command");
        reference.get_subcommands().map(|source| source.get_name().to_owned()).collect()
    };
    let hide = |program: clap::Command, name: &String| program.mut_subcommand(name, |source| source.hide(true));
    with_negative_numbers(with_help(sources.iter().fold(Cli::command(), hide)))
}

impl Cli {
    /// Parses a command line, the first argument of which is the program's name.
    ///
    /// # Errors
    /// A fault in it, and a question for help or the version.
    pub(crate) fn from_arguments(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let matches =
            definition().try_get_matches_from(&arguments).map_err(|error| advised(error, &arguments, &definition()))?;
        Self::from_arg_matches(&matches)
    }

    /// Runs the command.
    ///
    /// # Errors
    /// Any failure of the command, in one line.
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        match &self.command {
            Command::Games(command) => command.run(games),
            Command::Rules(command) => command.run(games),
            Command::Show(command) => command.run(games),
            Command::Legal(command) => command.run(games),
            Command::Perft(command) => command.run(games),
            Command::Search(command) => command.run(games),
            Command::Play(command) => command.run(games),
            Command::Engine(command) => command.run(games),
            Command::Analyse(command) => command.run(games),
            Command::Devices(command) => command.run(),
            Command::Doctor(command) => command.run(games),
            Command::Train(command) => command.run(games),
            #[cfg(feature = "cluster")]
            Command::Worker(command) => command.run(games),
            #[cfg(feature = "cluster")]
            Command::Cluster(command) => command.run(),
            #[cfg(not(feature = "cluster"))]
            Command::Worker(command) => command.run(),
            Command::Sweep(command) => command.run(games),
            Command::Report(command) => command.run(games),
            Command::Serve(command) => command.run(games),
            Command::Export(command) => command.run(games),
            Command::Arena(command) => command.run(games),
            Command::Grade(command) => command.run(games),
            Command::Solve(command) => command.run(games),
            Command::Bench(command) => command.run(games),
            Command::Reference { source } | Command::Source(source) => source.run(),
            Command::Pyro(command) => command.run(),
            Command::PyroServer(command) => command.run(),
            Command::Completions(command) => Ok(command.run(definition())),
            Command::Man(command) => command.run(definition()),
        }
    }
}

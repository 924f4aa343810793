//! The command line.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use turnstone_selfplay::Games;

use crate::commands;
use crate::help::with_help;
use crate::program_name::PROGRAM;
use crate::usage::{advised, with_negative_numbers};

/// Version and commit: `0.1.0 (ab12cd34 2026-11-22)`.
const VERSION: &str = PROGRAM.split_at("turnstone ".len()).1;

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
    /// List the kinds of agents and their options
    Agents(commands::agents::Agents),
    /// Print the rules of a game, its parameters and its notation
    Rules(commands::rules::Rules),
    /// Draw a position, list its actions, or count sequences of plies
    Show(commands::show::Show),
    /// Play one game between two agents, people included
    Play(commands::play::Play),
    /// Run an agent as an engine for other programs (UGI)
    Engine(commands::engine::Engine),
    /// Search a position, or answer queries of other programs in JSON
    #[command(visible_alias = "analyze")]
    Analyse(commands::analyse::Analyse),
    /// Review a saved game: what each move lost, and better lines
    Review(commands::review::Review),
    /// Check a config: mistakes, memory, disk space, time; list the GPUs
    Doctor(commands::doctor::Doctor),
    /// Train a network by self-play
    Train(commands::train::Train),
    /// Train one run for every combination of values and rank them
    Sweep(commands::sweep::Sweep),
    /// Write a report or comparison of runs as one HTML page
    Report(commands::report::Report),
    /// Serve a page to play, analyse and follow runs in a browser
    Serve(commands::serve::Serve),
    /// Export a checkpoint: ONNX, or a page to play against it
    Export(commands::export::Export),
    /// Play matches and tournaments, or rate an agent on a ladder
    Arena(commands::arena::Arena),
    /// Compare an agent's moves with exact values
    Grade(commands::grade::Grade),
    /// Find the worst that an agent can come to, and prove it
    Certify(commands::certify::Certify),
    /// Compute exact values of a game or position
    Solve(commands::solve::Solve),
    /// Measure speed on this machine
    Bench(commands::bench::Bench),
    /// Play games of self-play and matches for leaders on other machines
    #[cfg(feature = "cluster")]
    Worker(turnstone_cluster::WorkerOptions),
    /// Show the runs and workers of a cluster
    #[cfg(feature = "cluster")]
    Cluster(turnstone_cluster::ClusterOptions),
    #[cfg(not(feature = "cluster"))]
    #[command(hide = true, alias = "cluster", disable_help_flag = true)]
    Worker(crate::cluster::Absent),
    /// Print a completion script for a shell
    Completions(commands::completions::Completions),
    /// Print the manual page, or write one for every command
    Man(commands::completions::Man),
}

/// The definition of the command line, with its help in groups. `game` is the first that was added, which examples name.
pub(crate) fn definition(game: Option<&str>) -> clap::Command {
    with_negative_numbers(with_help(Cli::command(), game))
}

impl Cli {
    /// Parses a command line, the first argument of which is the program's name.
    ///
    /// # Errors
    /// A fault in it, and a question for help or the version.
    pub(crate) fn from_arguments(arguments: &[OsString], game: Option<&str>) -> Result<Self, clap::Error> {
        let matches = definition(game)
            .try_get_matches_from(arguments)
            .map_err(|error| advised(error, arguments, &definition(game)))?;
        Self::from_arg_matches(&matches)
    }

    /// Runs the command.
    ///
    /// # Errors
    /// Any failure of the command, in one line.
    pub(crate) fn run(&self, games: &Games, game: Option<&str>) -> Result<ExitCode> {
        match &self.command {
            Command::Games(command) => command.run(games),
            Command::Agents(command) => command.run(),
            Command::Rules(command) => command.run(games),
            Command::Show(command) => command.run(games),
            Command::Play(command) => command.run(games),
            Command::Engine(command) => command.run(games),
            Command::Analyse(command) => command.run(games),
            Command::Review(command) => command.run(games),
            Command::Doctor(command) => command.run(games),
            Command::Train(command) => command.run(games),
            Command::Sweep(command) => command.run(games),
            Command::Report(command) => command.run(games),
            Command::Serve(command) => command.run(games),
            Command::Export(command) => command.run(games),
            Command::Arena(command) => command.run(games),
            Command::Grade(command) => command.run(games),
            Command::Certify(command) => command.run(games),
            Command::Solve(command) => command.run(games),
            Command::Bench(command) => command.run(games),
            #[cfg(feature = "cluster")]
            Command::Worker(options) => {
                turnstone_cluster::work(options, PROGRAM, games, crate::signals::stop_on_signals()?)?;
                Ok(ExitCode::SUCCESS)
            }
            #[cfg(feature = "cluster")]
            Command::Cluster(options) => {
                crate::output::print_text(&turnstone_cluster::status(options)?);
                Ok(ExitCode::SUCCESS)
            }
            #[cfg(not(feature = "cluster"))]
            Command::Worker(command) => command.run(),
            Command::Completions(command) => Ok(command.run(definition(game))),
            Command::Man(command) => command.run(definition(game)),
        }
    }
}

//! The command line.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use turnstone_selfplay::Games;

use crate::commands;
use crate::extensions::{Host, Run};
use crate::help::{Additions, with_help};
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
    // The commands about the command line itself come after the added ones, in manual pages too.
    /// Print a completion script for a shell
    #[command(display_order = 900)]
    Completions(commands::completions::Completions),
    /// Print the manual page, or write one for every command
    #[command(display_order = 901)]
    Man(commands::completions::Man),
}

/// The definition of the command line, with what was added and its help in groups.
pub(crate) fn definition(additions: &Additions) -> clap::Command {
    let added = &additions.commands;
    let program = Cli::command().subcommands(added.iter().map(|command| command.definition.clone()));
    let mut program = with_negative_numbers(with_help(program, additions));
    // Completions have the commands in this order.
    let place = |command: &clap::Command| match command.get_name() {
        "completions" | "man" => 2,
        name => i32::from(!command.is_hide_set() && added.iter().any(|added| added.definition.get_name() == name)),
    };
    let mut all: Vec<clap::Command> = program.get_subcommands_mut().map(std::mem::take).collect();
    all.sort_by_key(place);
    program.get_subcommands_mut().zip(all).for_each(|(place, command)| *place = command);
    program
}

/// Whether the program has a command of this name with these additions.
pub(crate) fn is_command(name: &str, additions: &Additions) -> bool {
    definition(additions).find_subcommand(name).is_some()
}

/// A parsed command line.
pub(crate) enum Call {
    BuiltIn(Box<Cli>),
    Added(Run, ArgMatches),
}

impl Call {
    /// Parses a command line, the first argument of which is the program's name.
    ///
    /// # Errors
    /// A fault in it, and a question for help or the version.
    pub(crate) fn from_arguments(arguments: &[OsString], additions: &Additions) -> Result<Self, clap::Error> {
        let mut matches = definition(additions)
            .try_get_matches_from(arguments)
            .map_err(|error| advised(error, arguments, &definition(additions)))?;
        let name = matches.subcommand_name().unwrap_or_default();
        match additions.commands.iter().find(|command| command.definition.get_name() == name) {
            Some(command) => {
                let (_, own) = matches.remove_subcommand().expect("it has just been named");
                Ok(Self::Added(command.run, own))
            }
            None => Cli::from_arg_matches(&matches).map(|cli| Self::BuiltIn(Box::new(cli))),
        }
    }

    /// Runs the command.
    ///
    /// # Errors
    /// Any failure of the command, in one line.
    pub(crate) fn run(&self, games: &Games, additions: &Additions) -> Result<ExitCode> {
        match self {
            Self::BuiltIn(cli) => cli.run(games, additions),
            Self::Added(run, matches) => run(matches, &Host::new(games.clone())),
        }
    }
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// Any failure of the command, in one line.
    fn run(&self, games: &Games, additions: &Additions) -> Result<ExitCode> {
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
            Command::Completions(command) => Ok(command.run(definition(additions))),
            Command::Man(command) => command.run(definition(additions)),
        }
    }
}

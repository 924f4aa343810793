//! The command line.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use turnstone_selfplay::Games;

use crate::commands;

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
    /// Play one game between two agents, people included
    Play(commands::play::Play),
    /// Run an agent as an engine for other programs (Universal Game Interface)
    Engine(commands::engine::Engine),
    /// Analyse positions for other programs: queries and answers as JSON lines
    #[command(visible_alias = "analyze")]
    Analyse(commands::analyse::Analyse),
    /// Check a config before training: mistakes, memory, disk space, time
    Doctor(commands::doctor::Doctor),
    /// Train a network by self-play
    Train(commands::train::Train),
    /// Write the report of a run as one HTML page
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
    /// Play in Pyro's Konane world over TCP
    Pyro(commands::pyro::Pyro),
    /// Serve Pyro's Konane world for two players over TCP
    #[command(name = "pyro-server")]
    PyroServer(commands::pyro_server::PyroServer),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// Any failure of the command, in one line.
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        match &self.command {
            Command::Games(command) => command.run(games),
            Command::Show(command) => command.run(games),
            Command::Legal(command) => command.run(games),
            Command::Perft(command) => command.run(games),
            Command::Search(command) => command.run(games),
            Command::Play(command) => command.run(games),
            Command::Engine(command) => command.run(games),
            Command::Analyse(command) => command.run(games),
            Command::Doctor(command) => command.run(games),
            Command::Train(command) => command.run(games),
            Command::Report(command) => command.run(games),
            Command::Serve(command) => command.run(games),
            Command::Export(command) => command.run(games),
            Command::Arena(command) => command.run(games),
            Command::Grade(command) => command.run(games),
            Command::Solve(command) => command.run(games),
            Command::Bench(command) => command.run(games),
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

//! The command line: one command per host, and one per game for the functions of its source.

mod handout;
mod mu_torere;
mod mancala;
mod morris;
mod konane;
mod morabaraba;
mod pyro;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::output::note;

/// Let Turnstone's agents play in the programs that the built-in games come from, and call those programs' functions
#[derive(Parser, Debug)]
#[command(name = "turnstone-hosts", version, max_term_width = 100)]
struct Hosts {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Play in Pyro's Konane world over TCP
    Pyro(pyro::Pyro),
    /// Serve Pyro's Konane world for two players over TCP
    PyroServer(pyro::PyroServer),
    /// Mu Torere: the notebook's own functions
    #[command(name = "mu_torere")]
    MuTorere(mu_torere::MuTorere),
    /// Mancala: the assignment's own functions
    Mancala(mancala::Mancala),
    /// Morris: the handout's own generators, estimates and programs
    Morris(morris::Morris),
    /// Konane: Pyro's own move generator
    Konane(konane::Konane),
    /// Morabaraba: the contest's own query functions
    Morabaraba(morabaraba::Morabaraba),
}

/// Parses these arguments, the first of which is the program's name, runs the command and returns its exit code. Prints
/// an error as one line to standard error.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match Hosts::try_parse_from(arguments) {
        Ok(hosts) => hosts.command,
        Err(fault) => fault.exit(),
    };
    let done = match &command {
        Command::Pyro(command) => command.run(),
        Command::PyroServer(command) => command.run(),
        Command::MuTorere(command) => command.run(),
        Command::Mancala(command) => command.run(),
        Command::Morris(command) => command.run(),
        Command::Konane(command) => command.run(),
        Command::Morabaraba(command) => command.run(),
    };
    done.unwrap_or_else(|error| {
        note(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

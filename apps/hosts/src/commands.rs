//! The command line: the programs of the hosts.

mod handout;
mod pyro;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::output::note;

/// Let Turnstone's agents play in the programs that the built-in games come from
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
    /// Run the handout's programs for Morris
    #[command(subcommand)]
    Morris(handout::Program),
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
        Command::Morris(program) => program.run(),
    };
    done.unwrap_or_else(|error| {
        note(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

//! Commands that a program adds to the built-in ones.

use std::process::ExitCode;

use anyhow::Result;
use clap::ArgMatches;
use turnstone_agents::{Agent, AgentError, AgentSpec, PlayableGame};
use turnstone_base::terminal::print_stderr;
use turnstone_search::Stop;
use turnstone_selfplay::Games;

use crate::signals::stop_on_signals;

/// Runs a command whose arguments are parsed. It prints its results to standard output.
pub type Run = fn(&ArgMatches, &Host) -> Result<ExitCode>;

/// A command of a program.
#[derive(Clone, Debug)]
pub struct Command {
    /// The heading under which the program's help lists it.
    pub group: &'static str,
    /// Name, arguments and help.
    pub definition: clap::Command,
    /// Runs it.
    pub run: Run,
}

/// The program around an added command.
#[derive(Debug)]
pub struct Host {
    games: Games,
}

impl Host {
    pub(crate) const fn new(games: Games) -> Self {
        Self { games }
    }

    /// The program's games.
    #[must_use]
    pub fn games(&self) -> &Games {
        &self.games
    }

    /// Prints a line to standard error.
    pub fn note(&self, line: &str) {
        print_stderr(line);
    }

    /// The flag that Ctrl-C and SIGTERM set from now on instead of ending the program. To be called once.
    ///
    /// # Errors
    /// The signals cannot be received.
    pub fn stop(&self) -> Result<&'static Stop> {
        Ok(stop_on_signals()?)
    }

    /// Reads what an agent's spec names for this game.
    ///
    /// # Errors
    /// A file cannot be read, or is not for this game.
    pub fn agent(&self, spec: &AgentSpec, game: &dyn PlayableGame) -> Result<Agent, AgentError> {
        Agent::load(spec, game)
    }
}

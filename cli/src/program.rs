//! The program: its games, and what happens around a command.

use std::process::ExitCode;

use clap::Parser;
use turnstone_agents::Playable;
use turnstone_selfplay::{Games, built_in, row};

use crate::cli::Cli;

/// The `turnstone` program with a list of games: the built-in ones and those that are added.
#[derive(Clone, Debug)]
pub struct Program {
    games: Games,
}

impl Default for Program {
    fn default() -> Self {
        Self { games: built_in() }
    }
}

impl Program {
    /// The program with the built-in games.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a game. It replaces a built-in one of the same name.
    #[must_use]
    pub fn with<G: Playable>(mut self) -> Self {
        self.games = self.games.with(row::<G>());
        self
    }

    /// The games that the program knows.
    #[must_use]
    pub fn games(&self) -> &Games {
        &self.games
    }

    /// Parses the arguments of the process and runs one command. Errors go to standard error in one line.
    #[must_use]
    pub fn main(&self) -> ExitCode {
        end_with_the_reader();
        match Cli::parse().run(&self.games) {
            Ok(code) => code,
            Err(error) => {
                eprintln!("error: {}", one_line(&error));
                ExitCode::FAILURE
            }
        }
    }
}

/// The error and its causes in one line.
fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").replace('\n', " ")
}

/// Ends the program quietly when the reader of its output has gone (`| head`), as programs do that keep the default of
/// SIGPIPE, which Rust's runtime switches off.
fn end_with_the_reader() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or_default();
        if message.starts_with("failed printing to stdout") && message.contains("Broken pipe") {
            std::process::exit(141);
        }
        print(info);
    }));
}

//! The program: its games, and what happens around a command.

use std::process::ExitCode;

use clap::Parser;
use turnstone_agents::Playable;
use turnstone_selfplay::{Games, built_in, row};
use turnstone_trainer::progress::print_stderr;
use turnstone_trainer::tensorboard::quiet_event_writer;

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
        quiet_event_writer();
        end_with_the_reader();
        match Cli::parse().run(&self.games) {
            Ok(code) => code,
            Err(error) => {
                print_stderr(format_args!("error: {}", one_line(&error)));
                ExitCode::FAILURE
            }
        }
    }
}

/// The error and its causes in one line of bounded length. What files say, and errors quote, is not trusted: control
/// characters are escaped.
fn one_line(error: &anyhow::Error) -> String {
    const LONGEST: usize = 2000;
    let text = format!("{error:#}").replace('\n', " ");
    let mut line = String::new();
    for letter in text.chars().take(LONGEST) {
        if letter.is_control() { line.extend(letter.escape_default()) } else { line.push(letter) }
    }
    if text.chars().nth(LONGEST).is_some() {
        line.push_str("...");
    }
    line
}

/// Ends the program quietly when the reader of its output has gone (`| head`), as programs do that keep the default of
/// SIGPIPE, which Rust's runtime switches off; and in one line when the output cannot be written for another reason.
fn end_with_the_reader() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or_default();
        if let Some(fault) = message.strip_prefix("failed printing to stdout: ") {
            if fault.contains("Broken pipe") {
                std::process::exit(141);
            }
            print_stderr(format_args!("error: standard output: {fault}"));
            std::process::exit(1);
        }
        print(info);
    }));
}

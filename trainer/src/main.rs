//! The `turnstone` program: parses its arguments and runs one command.

use std::process::ExitCode;

use clap::Parser;
use turnstone::cli::Cli;
use turnstone::tensorboard::quiet_event_writer;

fn main() -> ExitCode {
    quiet_event_writer();
    match Cli::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", one_line(&error));
            ExitCode::FAILURE
        }
    }
}

/// The error and its causes in one line.
fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").replace('\n', " ")
}

//! The `turnstone` program: parses its arguments and runs one command.

use std::process::ExitCode;

use clap::Parser;
use turnstone::cli::Cli;
use turnstone::tensorboard::quiet_event_writer;

/// The system's allocator gives large buffers back at every free and keeps small ones in a heap per thread; this one
/// reuses both.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    quiet_event_writer();
    end_with_the_reader();
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

/// Ends the program quietly when whoever reads its output has gone (`| head`), as programs do that keep the default of
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

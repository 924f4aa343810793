//! What the commands for the functions of the games' sources have in common.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

/// The arguments of a command that calls the functions of a game's source.
pub(crate) trait Functions: clap::Args {
    /// Calls the function that is named, and prints its result.
    fn run(&self) -> Result<ExitCode>;
}

/// Prints the result of a function: a list with one element per line or, if `json`, one line of JSON.
pub(crate) fn print(value: &Value, json: bool) -> Result<ExitCode> {
    match value {
        Value::Array(elements) if !json => elements.iter().for_each(|element| println!("{}", plain(element))),
        value if json => println!("{value}"),
        value => println!("{}", plain(value)),
    }
    Ok(ExitCode::SUCCESS)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

//! Results on standard output, and lines on standard error.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;
use turnstone_base::terminal::print_stderr;

/// Prints a line on standard error.
pub(crate) fn note(text: &str) {
    print_stderr(text);
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

//! Results on standard output, and lines on standard error.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

/// Prints a line to standard error, where nothing stands in the way. Control characters are escaped: files and other
/// programs chose part of the text.
pub(crate) fn note(text: &str) {
    let printable =
        |letter: char| if letter.is_control() { letter.escape_default().collect() } else { letter.to_string() };
    let _ = writeln!(std::io::stderr(), "{}", text.chars().map(printable).collect::<String>());
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

//! `turnstone morris|morabaraba|mancala|mu_torere|konane`: the functions that the games' sources define.

pub(crate) mod mu_torere;
pub(crate) mod mancala;
pub(crate) mod morris;
pub(crate) mod konane;
pub(crate) mod morabaraba;

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

/// Prints the result of a function: a list with one element per line or, if `json`, one line of JSON.
fn print(value: &Value, json: bool) -> Result<ExitCode> {
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

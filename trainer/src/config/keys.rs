//! The text of a config: its values, the line of a fault, its paths, and its game.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;
use toml::{Table, Value};
use turnstone_agents::AgentSpec;
use turnstone_arena::line_at;
use turnstone_base::files::{in_folder, read_text};
use turnstone_base::settings::{Fault, Given};
use turnstone_base::text::entries;
use turnstone_env::{Games, Params};

/// Makes the game of a `[game]` section.
///
/// # Errors
/// One line that names the key.
pub fn game_of_table<T: ?Sized>(section: &Table, games: &Games<T>) -> Result<Arc<T>, String> {
    let mut params = Params::new();
    for (key, value) in section.iter().filter(|(key, _)| *key != "name") {
        match value {
            Value::String(text) => params.set(key, text),
            Value::Integer(number) => params.set(key, number),
            Value::Float(number) => params.set(key, number),
            Value::Boolean(flag) => params.set(key, flag),
            other => return Err(format!("game.{key} is {}, but must be a plain value", other.type_str())),
        }
    }
    let names = || games.names().collect::<Vec<_>>().join(", ");
    let name = section.get("name").ok_or_else(|| format!("game.name is missing; it is one of {}", names()))?;
    let name = name.as_str().ok_or("game.name must be a string")?;
    games.make(name, &params).map_err(|e| format!("game: {e}"))
}

/// A value of a setting.
#[must_use]
pub fn given(value: Value) -> Given {
    match value {
        Value::String(text) => Given::Text(text),
        Value::Integer(number) => Given::Whole(number),
        Value::Float(number) => Given::Number(number),
        Value::Boolean(flag) => Given::Flag(flag),
        Value::Array(list) => Given::List(list.into_iter().map(given).collect()),
        other => Given::Word(other.to_string()),
    }
}

/// Takes the relative paths in a config from a folder, and makes them absolute.
pub(super) fn take_paths_from(table: &mut Table, folder: &Path) {
    if let Some(Value::String(file)) = value_of(table, "self_play", "openings") {
        *file = in_folder(folder, Path::new(file)).to_string_lossy().into_owned();
    }
    let opponents = value_of(table, "arena", "opponents").and_then(Value::as_array_mut);
    for text in opponents.into_iter().flatten() {
        // What is no spec is reported where it is read; one without a path stays as it was typed.
        let Some(spec) = text.as_str().and_then(|text| text.parse::<AgentSpec>().ok()) else { continue };
        let resolved = spec.in_folder(folder);
        if resolved != spec {
            *text = Value::String(resolved.to_string());
        }
    }
}

fn value_of<'a>(table: &'a mut Table, section: &str, key: &str) -> Option<&'a mut Value> {
    table.get_mut(section)?.get_mut(key)
}

/// Replaces a file that `self_play.openings` names, of at most `longest` bytes, by its positions, one per line.
///
/// # Errors
/// The file cannot be read, or is too long.
pub(super) fn read_openings(table: &mut Table, longest: u64) -> Result<(), Fault> {
    let Some(named) = value_of(table, "self_play", "openings") else { return Ok(()) };
    let Some(file) = named.as_str() else { return Ok(()) };
    let fault = |fault: &dyn Display| Fault::other("self_play.openings", format!("{file}: {fault}"));
    let text = read_text(Path::new(file), longest).map_err(|error| fault(&error))?;
    let positions: Vec<Value> = entries(&text).map(|(_, line)| Value::String(line.to_owned())).collect();
    if positions.is_empty() {
        return Err(fault(&"there is no position"));
    }
    *named = Value::Array(positions);
    Ok(())
}

/// The values of a config by their keys, as `learn.batch`.
pub(super) fn by_path(config: Table) -> Table {
    let values = |(section, value): (String, Value)| match value {
        Value::Table(keys) => keys.into_iter().map(|(key, value)| (format!("{section}.{key}"), value)).collect(),
        value => vec![(section, value)],
    };
    config.into_iter().flat_map(values).collect()
}

/// A fault with the line of its key in a text, and with the value as it is typed there.
#[must_use]
pub fn in_text(text: &str, fault: Fault) -> String {
    match span_of(text, fault.key()) {
        Some(span) => format!("line {}: {}", line_at(text, span.start), fault.of_text(&text[span])),
        None => fault.to_string(),
    }
}

/// Where the value of a key is, as `learn.batch`.
fn span_of(text: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let document = DeTable::parse(text).ok()?.into_inner();
    let (section, key) = key.split_once('.').map_or((key, None), |(section, key)| (section, Some(key)));
    let value = document.get(section)?;
    Some(key.map_or(Some(value), |key| value.get_ref().get(key))?.span())
}

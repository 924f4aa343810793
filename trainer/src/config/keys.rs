//! The keys of a config: those that there are, the one at fault where a value cannot be read, and those of its game.

use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;
use toml::{Table, Value};
use turnstone_agents::AgentSpec;
use turnstone_base::files::{in_folder, read_text};
use turnstone_base::text::entries;
use turnstone_env::{Games, Params, nearest};
use turnstone_models::NetworkConfig;

/// Why a config cannot be read.
type Fault = toml::de::Error;

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

/// Rejects unknown keys; the message suggests the most similar known key. The keys of `[game]` are left to the game.
/// `known` is a config with all keys for a network.
pub(super) fn check(table: &Table, known: impl FnOnce(NetworkConfig) -> Table) -> Result<(), String> {
    let net = net_of_kind(table);
    let (reads_net, known) = (net.is_some(), known(net.unwrap_or_default()));
    for (key, value) in table {
        let Some(section) = known.get(key) else { return Err(unknown("", key, &known)) };
        let Some(known) = section.as_table() else { continue };
        // A list would be read as the section's values in their order.
        let Some(value) = value.as_table() else {
            return Err(format!("{key} is {value}, but must be a section, [{key}]"));
        };
        // The keys of a network depend on its kind: where that cannot be read, this is the fault.
        if key == "game" || (key == "net" && !reads_net) {
            continue;
        }
        if let Some(unknown_key) = value.keys().find(|k| !known.contains_key(*k)) {
            return Err(unknown(&format!("{key}."), unknown_key, known));
        }
    }
    Ok(())
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
pub(super) fn read_openings(table: &mut Table, longest: u64) -> Result<(), String> {
    let Some(named) = value_of(table, "self_play", "openings") else { return Ok(()) };
    let Some(file) = named.as_str() else { return Ok(()) };
    let text = read_text(Path::new(file), longest).map_err(|error| format!("self_play.openings: {file}: {error}"))?;
    let positions: Vec<Value> = entries(&text).map(|(_, line)| Value::String(line.to_owned())).collect();
    if positions.is_empty() {
        return Err(format!("self_play.openings: {file}: there is no position"));
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

/// The number, from 1, of the line with this byte of a text.
pub(super) fn line_at(text: &str, byte: usize) -> usize {
    text[..byte.min(text.len())].matches('\n').count() + 1
}

/// The line of the value of a key, as `learn.batch`.
pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?.into_inner();
    let (section, key) = key.split_once('.').map_or((key, None), |(section, key)| (section, Some(key)));
    let mut value = document.get(section)?;
    if let Some(key) = key {
        value = value.get_ref().get(key)?;
    }
    Some(line_at(text, value.span().start))
}

/// Names the key whose value cannot be read, its line, and what it must be. `read` returns the fault of a config, `line` the
/// line of a key.
pub(super) fn unreadable(
    table: &Table,
    error: &Fault,
    read: impl Fn(Table) -> Option<Fault>,
    line: impl Fn(&str) -> Option<usize>,
) -> String {
    let Some((key, value, error)) = find_unreadable(table, read) else { return error.message().replace('\n', ", ") };
    let line = line(&key).map(|line| format!("line {line}: ")).unwrap_or_default();
    let message = error.message().replace('\n', ", ");
    let misfit = message.starts_with("invalid type: ") || message.starts_with("invalid value: ");
    match message.rsplit_once(", expected ").filter(|_| misfit) {
        Some((_, expected)) => format!("{line}{key} is {value}, but must be {}", in_words(expected)),
        None => format!("{line}{key}: {message}"),
    }
}

/// The first key whose value cannot be read, with its value and the fault.
fn find_unreadable(table: &Table, read: impl Fn(Table) -> Option<Fault>) -> Option<(String, Value, Fault)> {
    let fault = |section: &str, value: Value| read(Table::from_iter([(section.to_owned(), value)]));
    for (section, value) in table {
        let Some(error) = fault(section, value.clone()) else { continue };
        let Some(keys) = value.as_table() else { return Some((section.clone(), value.clone(), error)) };
        // The kind of a network decides which keys it has; no other section has this key.
        let kind = keys.get_key_value("kind");
        if section == "net" && kind.is_none() {
            return Some((section.clone(), value.clone(), error));
        }
        let alone = |named: (&String, &Value)| {
            let owned = |(key, value): (&String, &Value)| (key.clone(), value.clone());
            fault(section, Value::Table(kind.into_iter().chain([named]).map(owned).collect()))
        };
        let mut named = kind.into_iter().chain(keys);
        return named.find_map(|(key, value)| Some((format!("{section}.{key}"), value.clone(), alone((key, value))?)));
    }
    None
}

/// A Rust type, as serde names it, in words.
fn in_words(expected: &str) -> String {
    let up_to = |most: u64| format!("a whole number from 0 to {most}");
    match expected {
        "usize" | "u64" => "a whole number from 0".to_owned(),
        "u32" => up_to(u32::MAX.into()),
        "u16" => up_to(u16::MAX.into()),
        "u8" => up_to(u8::MAX.into()),
        "f32" | "f64" | "floating point number" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        other => other.to_owned(),
    }
}

/// Returns the default network of the configured kind, `None` for a kind that does not exist.
pub(super) fn net_of_kind(table: &Table) -> Option<NetworkConfig> {
    let Some(kind) = table.get("net").and_then(|net| net.get("kind")).cloned() else {
        return Some(NetworkConfig::default());
    };
    Table::from_iter([("kind".to_owned(), kind)]).try_into().ok()
}

fn unknown(prefix: &str, key: &str, known: &Table) -> String {
    let names = known.keys().map(String::as_str);
    match nearest(key, names) {
        Some(near) => format!("unknown key `{prefix}{key}` (did you mean `{prefix}{near}`?)"),
        None => {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            format!("unknown key `{prefix}{key}`; known are {}", names.join(", "))
        }
    }
}

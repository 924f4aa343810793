//! The keys of a config: those that there are, the one at fault where a value cannot be read, and those of its game.

use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;
use toml::{Table, Value};
use turnstone_base::files::read_text;
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
            Value::Boolean(flag) => params.set(key, flag),
            other => return Err(format!("game.{key} is {}, but must be a plain value", other.type_str())),
        }
    }
    let names = || games.names().collect::<Vec<_>>().join(", ");
    let name = section.get("name").ok_or_else(|| format!("game.name is missing; it is one of {}", names()))?;
    let name = name.as_str().ok_or("game.name must be a string")?;
    games.make(name, &params).map_err(|e| format!("game: {e}"))
}

/// What became of a key.
pub(super) enum Fate {
    /// It has this name in the same section.
    Renamed(&'static str),
    /// It was removed. With one of these values a config means what it means without the key.
    Removed {
        without_effect: &'static [&'static str],
        /// What is so instead.
        reason: &'static str,
    },
}

const fn removed(without_effect: &'static [&'static str], reason: &'static str) -> Fate {
    Fate::Removed { without_effect, reason }
}

/// The keys of version 0.1.0, by section, that are no more. The config of a run that it began has them all.
pub(super) const RETIRED: [(&str, &str, Fate); 8] = [
    ("self_play", "archived_starts", removed(&["0", "0.0"], "games from archived positions brought no gain")),
    ("self_play", "full_search_share", removed(&["1", "1.0"], "playout-cap randomisation cost strength")),
    ("self_play", "fast_simulations", removed(&["16"], "search.simulations is for all moves")),
    ("learn", "backend", removed(&["\"kernels\"", "\"burn\""], "burn trains every network")),
    ("learn", "value_weight", removed(&["1", "1.0"], "policy and value have the same weight")),
    ("learn", "margin_weight", removed(&["0", "0.0"], "auxiliary targets brought no gain")),
    ("learn", "plies_left_weight", removed(&["0", "0.0"], "auxiliary targets brought no gain")),
    ("arena", "search", Fate::Renamed("method")),
];

/// The keys of earlier versions that a config has.
#[derive(Debug, Default)]
pub(super) struct Retired {
    /// Those that were removed and change nothing.
    idle: Vec<String>,
    /// What the names of others are.
    renamed: Vec<String>,
    faults: Vec<String>,
}

impl Retired {
    /// What they mean today, if there are any.
    ///
    /// # Errors
    /// One of them means nothing today, and meant something.
    pub(super) fn note(self) -> Result<Option<String>, String> {
        if let Some(fault) = self.faults.into_iter().next() {
            return Err(fault);
        }
        let idle = (!self.idle.is_empty()).then(|| format!("removed since, without effect: {}", self.idle.join(", ")));
        let notes: Vec<String> = self.renamed.into_iter().chain(idle).collect();
        Ok((!notes.is_empty()).then(|| notes.join("; ")))
    }
}

/// The name of a key today.
pub(super) fn name_today<'a>(section: &str, key: &'a str) -> &'a str {
    let retired = RETIRED.iter().find(|(of, name, _)| (*of, *name) == (section, key));
    retired.map_or(key, |(_, _, fate)| if let Fate::Renamed(today) = fate { today } else { key })
}

/// Takes the keys of earlier versions out of a config. Those that have another name get it.
pub(super) fn take_retired(table: &mut Table) -> Retired {
    let mut retired = Retired::default();
    for (section, key, fate) in &RETIRED {
        let keys = table.get_mut(*section).and_then(Value::as_table_mut);
        let Some((value, keys)) = keys.and_then(|keys| Some((keys.remove(*key)?, keys))) else { continue };
        match fate {
            Fate::Renamed(today) if keys.contains_key(*today) => {
                retired.faults.push(format!("{section}.{key} is {section}.{today} now: leave one of them out"));
            }
            Fate::Renamed(today) => {
                keys.insert((*today).to_owned(), value);
                retired.renamed.push(format!("{section}.{key} is {section}.{today} now"));
            }
            Fate::Removed { without_effect, .. } if without_effect.contains(&value.to_string().as_str()) => {
                retired.idle.push(format!("{section}.{key}"));
            }
            Fate::Removed { reason, .. } => retired.faults.push(format!(
                "{section}.{key} is {value}, but was removed after version 0.1.0, as {reason}: leave it out"
            )),
        }
    }
    retired
}

/// Rejects unknown keys; the message suggests the most similar known key. The keys of `[game]` are left to the game.
/// `known` is a config with all keys for a network.
pub(super) fn check(table: &Table, known: impl FnOnce(NetworkConfig) -> Table) -> Result<(), String> {
    let net = net_of_kind(table);
    let (reads_net, known) = (net.is_some(), known(net.unwrap_or_default()));
    for (key, value) in table {
        let Some(section) = known.get(key) else { return Err(unknown("", key, &known)) };
        let (Some(known), Some(value)) = (section.as_table(), value.as_table()) else { continue };
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

/// Replaces a file that `self_play.openings` names, of at most `longest` bytes, by its positions, one per line.
///
/// # Errors
/// The file cannot be read, or is too long.
pub(super) fn read_openings(table: &mut Table, longest: u64) -> Result<(), String> {
    let Some(named) = table.get_mut("self_play").and_then(|section| section.get_mut("openings")) else { return Ok(()) };
    let Some(file) = named.as_str() else { return Ok(()) };
    let text = read_text(Path::new(file), longest).map_err(|error| format!("self_play.openings: {file}: {error}"))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let positions: Vec<Value> = lines.map(|line| Value::String(line.to_owned())).collect();
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

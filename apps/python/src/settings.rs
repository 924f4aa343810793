//! Keyword arguments as settings: parameters of games, constants of search and self-play.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use turnstone_agents::{SEARCH_SETTINGS, SearchSettings};
use turnstone_env::Params;
use turnstone_selfplay::{SearchConfig, SelfPlayConfig};

use crate::errors::{unexpected_keyword, value_error};

/// Parameters of a game: booleans, integers or texts.
pub(crate) fn params(given: Option<&Bound<'_, PyDict>>) -> PyResult<Params> {
    let mut params = Params::new();
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        match json(&key, &value)? {
            Value::String(text) => params.set(key, text),
            Value::Bool(flag) => params.set(key, flag),
            Value::Number(number) => params.set(key, number),
            _ => return Err(wrong_type(&key, &value)),
        }
    }
    Ok(params)
}

/// Parameters of a game as a dictionary.
pub(crate) fn params_dict<'py>(py: Python<'py>, params: &Params) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (key, value) in params.iter() {
        all.set_item(key, param_value(py, value)?)?;
    }
    Ok(all)
}

/// A parameter's value as a Python object.
pub(crate) fn param_value<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    Ok(match (text, text.parse::<i64>()) {
        ("true", _) => PyBool::new(py, true).to_owned().into_any(),
        ("false", _) => PyBool::new(py, false).to_owned().into_any(),
        (_, Ok(number)) => number.into_pyobject(py)?.into_any(),
        _ => PyString::new(py, text).into_any(),
    })
}

/// Keys of configs that are no settings of [`self_play`]: those of a run, of agents at play and of the program's own
/// networks, and those that are arguments of their own.
const NO_SETTINGS: [&str; 8] = [
    "games_per_iteration",
    "final_simulations",
    "play_proof_nodes",
    "draw",
    "precision",
    "device",
    "concurrent_games",
    "threads",
];

/// The settings of a search by their keys.
pub(crate) fn search_keys(settings: &SearchSettings) -> Map<String, Value> {
    let mut keys = object(settings);
    for setting in &SEARCH_SETTINGS {
        // Checkpoints leave some out at their defaults.
        let zero = || if setting.is_whole { 0.into() } else { 0.0.into() };
        keys.entry(setting.name).or_insert_with(|| setting.get(settings).map_or(Value::Null, |_| zero()));
    }
    keys
}

/// The settings of a search and of self-play by their keys.
pub(crate) fn self_play_keys(search: &SearchConfig, self_play: &SelfPlayConfig) -> [Map<String, Value>; 2] {
    let mut search_keys = search_keys(&search.constants);
    search_keys.extend(object(search));
    let mut sections = [search_keys, object(self_play)];
    for keys in &mut sections {
        keys.retain(|key, _| !NO_SETTINGS.contains(&key.as_str()));
    }
    sections
}

/// Constants of a search from keyword arguments.
pub(crate) fn search(given: Option<&Bound<'_, PyDict>>) -> PyResult<SearchSettings> {
    let mut settings = SearchSettings::default();
    let known = search_keys(&settings);
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        if !known.contains_key(&key) {
            let known = known.keys().map(String::as_str);
            return Err(unknown("Search", &key, known.chain(["simulations", "cached_positions"])));
        }
        set(&mut settings, &key, &value)?;
    }
    settings.validate().map_err(value_error)?;
    Ok(settings)
}

/// Constants of search and self-play from keyword arguments, over these defaults.
pub(crate) fn self_play(
    mut search: SearchConfig,
    mut self_play: SelfPlayConfig,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<(SearchConfig, SelfPlayConfig)> {
    let [known_search, known_self_play] = self_play_keys(&search, &self_play);
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        if known_search.contains_key(&key) {
            set(&mut search, &key, &value)?;
        } else if known_self_play.contains_key(&key) {
            set(&mut self_play, &key, &value)?;
        } else {
            let known = known_search.keys().chain(known_self_play.keys()).map(String::as_str);
            return Err(unknown("SelfPlay", &key, known.chain(["concurrent_games", "threads", "seed"])));
        }
    }
    search.validate().and_then(|()| self_play.validate()).map_err(value_error)?;
    Ok((search, self_play))
}

/// Settings as a dictionary.
pub(crate) fn dict(py: Python<'_>, settings: Map<String, Value>) -> PyResult<Bound<'_, PyDict>> {
    let text = Value::Object(settings).to_string();
    Ok(py.import("json")?.call_method1("loads", (text,))?.cast_into()?)
}

/// The error of a copy or pickle of an object that has an evaluator.
pub(crate) fn no_copy(kind: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "a {kind} holds its evaluator and cannot be copied or pickled: make another with \
         turnstone.{kind}(game, evaluate, **settings), where `settings` are those of the first"
    ))
}

/// Sets a key of settings that are read by their keys.
fn set<T: Serialize + DeserializeOwned>(settings: &mut T, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let mut keys = object(settings);
    keys.insert(key.to_owned(), json(key, value)?);
    let read = serde_json::from_value(Value::Object(keys));
    *settings = read.map_err(|fault| value_error(format!("{key}: {fault}")))?;
    Ok(())
}

/// Settings by their keys. Read from their text, in which numbers of 32 bits are short.
fn object(settings: &impl Serialize) -> Map<String, Value> {
    let text = serde_json::to_string(settings);
    text.and_then(|text| serde_json::from_str(&text)).expect("settings are an object")
}

/// A plain Python value as JSON.
pub(crate) fn json(key: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::String(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() || value.hasattr("__index__")? {
        let number = value.extract::<i64>();
        return number
            .map(|number| Value::Number(number.into()))
            .map_err(|_| value_error(format!("{key} must be between -2^63 and 2^63 - 1")));
    }
    if value.is_instance_of::<PyFloat>() || value.hasattr("__float__")? {
        let number = Number::from_f64(value.extract()?);
        return number.map(Value::Number).ok_or_else(|| value_error(format!("{key} is {value}, not a finite number")));
    }
    Err(wrong_type(key, value))
}

fn wrong_type(key: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let kind = value.get_type();
    PyTypeError::new_err(format!("{key} must be a bool, a number or a str, not {kind}"))
}

/// The error of a keyword argument that is none of the settings.
fn unknown<'a>(of: &str, key: &str, known: impl Iterator<Item = &'a str> + Clone) -> PyErr {
    let all = known.clone().collect::<Vec<_>>().join(", ");
    unexpected_keyword(of, key, known, &format!("its settings are {all}"))
}

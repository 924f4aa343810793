//! Keyword arguments as settings: parameters of games, constants of search and self-play.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use serde_json::{Map, Number, Value};
use turnstone_agents::{SEARCH_SETTINGS, SearchSettings};
use turnstone_env::{Params, nearest};
use turnstone_selfplay::{SearchConfig, SelfPlayConfig};

use crate::errors::value_error;

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

/// Keys of configs that are no settings of [`self_play`]: those of a run and of the program's own networks, and those
/// that are arguments of their own.
const NO_SETTINGS: [&str; 7] = [
    "games_per_iteration",
    "final_simulations",
    "play_proof_nodes",
    "precision",
    "device",
    "concurrent_games",
    "threads",
];

/// The settings of a search and of self-play by their keys.
pub(crate) fn self_play_keys(search: &SearchConfig, self_play: &SelfPlayConfig) -> [Map<String, Value>; 2] {
    let mut sections = [serde_json::to_string(search), serde_json::to_string(self_play)].map(object);
    // Configs leave this out at its default.
    sections[0].entry("proof_nodes").or_insert(0.into());
    for keys in &mut sections {
        keys.retain(|key, _| !NO_SETTINGS.contains(&key.as_str()));
    }
    sections
}

/// Constants of search and self-play from keyword arguments, over these defaults.
pub(crate) fn self_play(
    search: &SearchConfig,
    self_play: &SelfPlayConfig,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<(SearchConfig, SelfPlayConfig)> {
    let [known_search, known_self_play] = self_play_keys(search, self_play);
    let (mut search, mut self_play) = (search.clone(), self_play.clone());
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        let named = |fault: serde_json::Error| value_error(format!("{key}: {fault}"));
        if known_search.contains_key(&key) {
            let changed = with(serde_json::to_string(&search), &key, &value)?;
            search = serde_json::from_value(changed).map_err(named)?;
        } else if known_self_play.contains_key(&key) {
            let changed = with(serde_json::to_string(&self_play), &key, &value)?;
            self_play = serde_json::from_value(changed).map_err(named)?;
        } else {
            let known = known_search.keys().chain(known_self_play.keys()).map(String::as_str);
            return Err(unknown("SelfPlay", &key, known.chain(["concurrent_games", "threads", "seed"])));
        }
    }
    search.validate().and_then(|()| self_play.validate()).map_err(value_error)?;
    Ok((search, self_play))
}

/// The settings of a search by their keys.
pub(crate) fn search_keys(settings: &SearchSettings) -> Map<String, Value> {
    let mut keys = object(serde_json::to_string(settings));
    for setting in &SEARCH_SETTINGS {
        // Checkpoints leave some out at their defaults.
        let zero = || if setting.is_whole { 0.into() } else { 0.0.into() };
        keys.entry(setting.name).or_insert_with(|| setting.get(settings).map_or(Value::Null, |_| zero()));
    }
    keys
}

/// Constants of a search from keyword arguments.
pub(crate) fn search(given: Option<&Bound<'_, PyDict>>) -> PyResult<SearchSettings> {
    let mut settings = SearchSettings::default();
    let keys = search_keys(&settings);
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        if !keys.contains_key(&key) {
            let known = keys.keys().map(String::as_str);
            return Err(unknown("Search", &key, known.chain(["simulations", "cached_positions"])));
        }
        let changed = with(serde_json::to_string(&settings), &key, &value)?;
        settings = serde_json::from_value(changed).map_err(|fault| value_error(format!("{key}: {fault}")))?;
    }
    settings.validate().map_err(value_error)?;
    Ok(settings)
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

/// A section with another value of a key.
fn with(section: serde_json::Result<String>, key: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let mut keys = object(section);
    keys.insert(key.to_owned(), json(key, value)?);
    Ok(Value::Object(keys))
}

/// The keys of a section. Read from its text, in which numbers of 32 bits are short.
fn object(section: serde_json::Result<String>) -> Map<String, Value> {
    section.and_then(|text| serde_json::from_str(&text)).expect("a section of a config is an object")
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
        return Ok(Value::Number(value.extract::<i64>().map(Number::from)?));
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

fn unknown<'a>(of: &str, key: &str, known: impl Iterator<Item = &'a str> + Clone) -> PyErr {
    PyTypeError::new_err(match nearest(key, known.clone()) {
        Some(near) => format!("{of} has no setting `{key}` (did you mean `{near}`?)"),
        None => format!("{of} has no setting `{key}`; its settings are {}", known.collect::<Vec<_>>().join(", ")),
    })
}

//! Keyword arguments as settings: parameters of games, constants of search and self-play.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use serde_json::{Map, Number, Value};
use turnstone_agents::SearchSettings;
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

/// A parameter's value as a Python object.
pub(crate) fn param_value<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    Ok(match (text, text.parse::<i64>()) {
        ("true", _) => PyBool::new(py, true).to_owned().into_any(),
        ("false", _) => PyBool::new(py, false).to_owned().into_any(),
        (_, Ok(number)) => number.into_pyobject(py)?.into_any(),
        _ => PyString::new(py, text).into_any(),
    })
}

/// Constants of search and self-play from keyword arguments, over these defaults.
pub(crate) fn self_play(
    search: &SearchConfig,
    self_play: &SelfPlayConfig,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<(SearchConfig, SelfPlayConfig)> {
    const FIXED: [&str; 4] = ["games_per_iteration", "archived_starts", "final_simulations", "play_proof_nodes"];
    let mut search = object(serde_json::to_value(search));
    let mut self_play = object(serde_json::to_value(self_play));
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        let section = if search.contains_key(&key) { &mut search } else { &mut self_play };
        match section.get_mut(&key).filter(|_| !FIXED.contains(&key.as_str())) {
            Some(place) => *place = json(&key, &value)?,
            None => {
                let known = search.keys().chain(self_play.keys()).map(String::as_str);
                return Err(unknown("SelfPlay", &key, known.filter(|known| !FIXED.contains(known))));
            }
        }
    }
    let search: SearchConfig = serde_json::from_value(Value::Object(search)).map_err(value_error)?;
    let self_play: SelfPlayConfig = serde_json::from_value(Value::Object(self_play)).map_err(value_error)?;
    search.validate().and_then(|()| self_play.validate()).map_err(value_error)?;
    Ok((search, self_play))
}

/// Constants of a search from keyword arguments.
pub(crate) fn search(given: Option<&Bound<'_, PyDict>>) -> PyResult<SearchSettings> {
    let mut settings = object(serde_json::to_value(SearchSettings::default()));
    settings.insert("considered".to_owned(), Value::Null);
    settings.insert("proof_nodes".to_owned(), 0.into());
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        match settings.get_mut(&key) {
            Some(place) => *place = json(&key, &value)?,
            None => return Err(unknown("Search", &key, settings.keys().map(String::as_str))),
        }
    }
    let settings: SearchSettings = serde_json::from_value(Value::Object(settings)).map_err(value_error)?;
    // The ranges are those of self-play.
    let SearchSettings { method, c_puct, fpu_reduction, c_visit, c_scale, considered, proof_nodes } = settings;
    let ranges = SearchConfig {
        method,
        c_puct,
        fpu_reduction,
        c_visit,
        c_scale,
        considered: considered.unwrap_or(1),
        proof_nodes,
        ..SearchConfig::default()
    };
    ranges.validate().map_err(value_error)?;
    Ok(settings)
}

fn object(value: serde_json::Result<Value>) -> Map<String, Value> {
    match value {
        Ok(Value::Object(map)) => map,
        other => unreachable!("settings are an object, not {other:?}"),
    }
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

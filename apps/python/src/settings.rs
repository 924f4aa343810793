//! Keyword arguments as settings: parameters of games, constants of search and self-play.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use turnstone_base::settings::{Given, Setting};
use turnstone_env::Params;

use crate::errors::{unexpected_keyword, value_error};

/// Parameters of a game: booleans, integers or texts.
pub(crate) fn params(given: Option<&Bound<'_, PyDict>>) -> PyResult<Params> {
    let mut params = Params::new();
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        match self::given(&key, &value)?.ok_or_else(|| wrong_type(&key, &value))? {
            Given::Text(text) => params.set(key, text),
            other => params.set(key, other),
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

/// Sets the settings of a class from keyword arguments.
pub(crate) fn take(class: &str, mut settings: Vec<Setting<'_>>, given: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let known: Vec<&str> = settings.iter().map(Setting::name).collect();
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        let Some(setting) = settings.iter_mut().find(|setting| setting.name() == key) else {
            let all = known.join(", ");
            return Err(unexpected_keyword(class, &key, known.into_iter(), &format!("its settings are {all}")));
        };
        if let Some(given) = self::given(&key, &value)? {
            setting.set(&given).map_err(value_error)?;
        }
    }
    Ok(())
}

/// Settings with their values, as a dictionary.
pub(crate) fn dict<'py>(py: Python<'py>, settings: &[Setting<'_>]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for setting in settings {
        let name = setting.name();
        match setting.value() {
            None => all.set_item(name, py.None())?,
            Some(Given::Flag(flag)) => all.set_item(name, flag)?,
            Some(Given::Whole(number)) => all.set_item(name, number)?,
            Some(Given::Number(number)) => all.set_item(name, number)?,
            Some(other) => all.set_item(name, other.text())?,
        }
    }
    Ok(all)
}

/// The error of a copy or pickle of an object that has an evaluator.
pub(crate) fn no_copy(kind: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "a {kind} holds its evaluator and cannot be copied or pickled: make another with \
         turnstone.{kind}(game, evaluate, **settings), where `settings` are those of the first"
    ))
}

/// A plain Python value; `None` if it is None.
fn given(key: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Given>> {
    if value.is_none() {
        return Ok(None);
    }
    let given = if value.is_instance_of::<PyBool>() {
        Given::Flag(value.extract()?)
    } else if value.is_instance_of::<PyString>() {
        Given::Text(value.extract()?)
    } else if value.is_instance_of::<PyInt>() || value.hasattr("__index__")? {
        let number = value.extract::<i64>();
        Given::Whole(number.map_err(|_| value_error(format!("{key} must be between -2^63 and 2^63 - 1")))?)
    } else if value.is_instance_of::<PyFloat>() || value.hasattr("__float__")? {
        Given::Number(value.extract()?)
    } else {
        return Err(wrong_type(key, value));
    };
    Ok(Some(given))
}

fn wrong_type(key: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let kind = value.get_type();
    PyTypeError::new_err(format!("{key} must be a bool, a number or a str, not {kind}"))
}

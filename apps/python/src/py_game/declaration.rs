//! What a class says of its game: name, shapes, symmetries, parameters.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use turnstone_env::{Params, Spec, Symmetry};

use crate::arrays::tuple;
use crate::errors::{rules_error, unexpected_keyword, value_error, within};
use crate::settings;

/// Most points of a board.
const MAX_POINTS: usize = 1024;

/// The class `turnstone.Game`.
static BASE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Says which class is `turnstone.Game`; called once, before there is a game.
pub(crate) fn set_base(base: &Bound<'_, PyType>) {
    let _ = BASE.set(base.py(), base.clone().unbind()); // a second interpreter of the process has the same class
}

fn base(py: Python<'_>) -> Bound<'_, PyType> {
    BASE.get(py).expect("the module has set it").bind(py).clone()
}

/// Whether the class of a game has a method or attribute of its own in place of that of `turnstone.Game`.
pub(super) fn overrides(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let (class, base) = (object.get_type(), base(object.py()));
    let own = class.getattr_opt(name)?;
    Ok(own.is_some_and(|own| base.getattr_opt(name).ok().flatten().is_none_or(|base| !own.is(&base))))
}

/// An attribute that the class or the instance has set.
fn attribute<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let own = object.getattr("__dict__")?;
    if let Some(value) = own.cast::<PyDict>()?.get_item(name)? {
        return Ok(Some(value));
    }
    if overrides(object, name)? { object.getattr_opt(name) } else { Ok(None) }
}

/// An attribute of a type.
fn typed<'py, T>(object: &Bound<'py, PyAny>, name: &str, kind: &str) -> PyResult<Option<T>>
where
    T: FromPyObjectOwned<'py>,
{
    let Some(value) = attribute(object, name)? else { return Ok(None) };
    let wrong = || PyTypeError::new_err(format!("{name} is {value}, but must be {kind}"));
    value.extract().map(Some).map_err(|_| wrong())
}

/// The shape of a game.
pub(super) fn spec(object: &Bound<'_, PyAny>) -> PyResult<Spec> {
    let class: Bound<'_, PyType> = object.get_type();
    let missing = |name: &str| PyTypeError::new_err(format!("{class}: a game needs the attribute {name}"));
    let name: String = typed(object, "name", "a str")?.ok_or_else(|| missing("name"))?;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        let fault = format!("name is {name:?}, but must consist of lower-case letters, digits and _");
        return Err(PyValueError::new_err(fault));
    }
    declared(object, &name).map_err(|error| rules_error(format!("{name}: {}", error.value(object.py()))))
}

fn declared(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Spec> {
    let actions = num_actions(object)?;
    let (planes, height, width) = observation_shape(object)?;
    let version = typed(object, "version", "an int")?.unwrap_or(1);
    Ok(Spec {
        point_planes: plane_names(object, planes)?,
        bounds: observation_bounds(object)?,
        blocks: action_blocks(object, actions)?,
        second_player_map: second_player_map(object, actions)?,
        symmetries: symmetries(object, planes, height * width, actions)?,
        sides: side_names(object)?,
        ..Spec::new(interned(name), version, [height, width], &[], actions)
    })
}

/// An attribute that every game has.
fn required<'py, T>(object: &Bound<'py, PyAny>, name: &str, kind: &str) -> PyResult<T>
where
    T: FromPyObjectOwned<'py>,
{
    typed(object, name, kind)?.ok_or_else(|| PyTypeError::new_err(format!("a game needs the attribute {name}")))
}

fn num_actions(object: &Bound<'_, PyAny>) -> PyResult<usize> {
    within("num_actions", required(object, "num_actions", "an int")?, 1, Spec::MAX_ACTIONS as u32)
}

/// Planes, height and width.
fn observation_shape(object: &Bound<'_, PyAny>) -> PyResult<(usize, usize, usize)> {
    let (planes, height, width) = required(object, "observation_shape", "three ints: planes, height, width")?;
    if (1..=1000).contains(&planes) && (1..=MAX_POINTS).contains(&usize::saturating_mul(height, width)) {
        return Ok((planes, height, width));
    }
    let shape = tuple(&[planes, height, width]);
    Err(value_error(format!(
        "observation_shape is {shape}, but 1 to 1000 planes of 1 to {MAX_POINTS} points are allowed"
    )))
}

/// Least and greatest number of an observation.
fn observation_bounds(object: &Bound<'_, PyAny>) -> PyResult<[f32; 2]> {
    let kind = "two numbers: the least and the greatest of an observation";
    let (least, most) = typed(object, "observation_bounds", kind)?.unwrap_or((-Spec::MAX_FEATURE, Spec::MAX_FEATURE));
    if least <= most && -Spec::MAX_FEATURE <= least && most <= Spec::MAX_FEATURE {
        return Ok([least, most]);
    }
    let limit = Spec::MAX_FEATURE;
    Err(value_error(format!(
        "observation_bounds is ({least}, {most}), but must be a range within -{limit} and {limit}"
    )))
}

fn plane_names(object: &Bound<'_, PyAny>, planes: usize) -> PyResult<Vec<String>> {
    let names: Option<Vec<String>> = typed(object, "plane_names", "a list of str")?;
    let names = names.unwrap_or_else(|| (0..planes).map(|i| format!("plane {i}")).collect());
    if names.len() != planes {
        return Err(value_error(format!("plane_names has {} names for {planes} planes", names.len())));
    }
    Ok(names)
}

fn action_blocks(object: &Bound<'_, PyAny>, actions: usize) -> PyResult<Vec<(&'static str, usize)>> {
    let blocks: Option<Vec<(String, usize)>> = typed(object, "action_blocks", "a list of (name, number of actions)")?;
    let blocks = blocks.unwrap_or_else(|| vec![("action".to_owned(), actions)]);
    if blocks.iter().map(|(_, length)| length).sum::<usize>() != actions {
        return Err(value_error(format!("action_blocks do not have num_actions = {actions} actions together")));
    }
    Ok(blocks.into_iter().map(|(name, length)| (interned(&name), length)).collect())
}

fn second_player_map(object: &Bound<'_, PyAny>, actions: usize) -> PyResult<Option<Vec<u16>>> {
    let map: Option<Vec<u16>> = typed(object, "second_player_map", "a sequence of actions")?;
    if let Some(map) = &map {
        let turned = |action: usize| map.get(action).map(|&to| usize::from(to));
        if map.len() != actions || !(0..actions).all(|action| turned(action).and_then(turned) == Some(action)) {
            let fault = format!("second_player_map must map the {actions} actions so that twice is the identity");
            return Err(value_error(fault));
        }
    }
    Ok(map)
}

/// The symmetries, the identity first. The class lists the others as pairs: images of the points, images of the actions.
fn symmetries(object: &Bound<'_, PyAny>, planes: usize, points: usize, actions: usize) -> PyResult<Vec<Symmetry>> {
    let identity = Symmetry::identity(points, actions, planes);
    let kind = "a list of pairs: images of the points, images of the actions";
    let given: Vec<(Vec<usize>, Vec<usize>)> = typed(object, "symmetries", kind)?.unwrap_or_default();
    let mut symmetries = vec![identity];
    for (i, (of_points, of_actions)) in given.into_iter().enumerate() {
        for (images, count, what) in [(&of_points, points, "points"), (&of_actions, actions, "actions")] {
            let distinct: HashSet<usize> = images.iter().copied().filter(|&image| image < count).collect();
            if images.len() != count || distinct.len() != count {
                let fault = format!("symmetries[{i}] must hold each of the {count} {what} once");
                return Err(PyValueError::new_err(fault));
            }
        }
        let points = of_points.into_iter().map(|point| point as u16).collect();
        let actions = of_actions.into_iter().map(|action| action as u16).collect();
        let symmetry = Symmetry { points, actions, planes };
        if !symmetries.contains(&symmetry) {
            symmetries.push(symmetry);
        }
    }
    Ok(symmetries)
}

/// The players' names.
fn side_names(object: &Bound<'_, PyAny>) -> PyResult<[&'static str; 2]> {
    let names: Option<(String, String)> = typed(object, "side_names", "two str")?;
    Ok(names.map_or(["player 0", "player 1"], |(first, second)| [interned(&first), interned(&second)]))
}

/// The parameters of a call of a class, those that are not given at their defaults, and all defaults. Parameters are the
/// arguments of its `__init__`, each of which needs a default.
pub(crate) fn params(
    class: &Bound<'_, PyType>,
    positional: &Bound<'_, pyo3::types::PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Params, Params)> {
    let py = class.py();
    let init = class.getattr("__init__")?;
    if init.is(&base(py).getattr("__init__")?) {
        let name = class.name()?.to_string();
        if let Some(key) = keywords.and_then(|keywords| keywords.keys().iter().next()) {
            let why = format!("{name} has no __init__, and so no parameters");
            return Err(unexpected_keyword(&name, &key.extract::<String>()?, std::iter::empty(), &why));
        }
        if !positional.is_empty() {
            return Err(PyTypeError::new_err(format!("{name}() takes no parameters: it has no __init__")));
        }
        return Ok((Params::new(), Params::new()));
    }
    let signature = py.import("inspect")?.call_method1("signature", (init,))?;
    let (given, defaults) = (PyDict::new(py), PyDict::new(py));
    for parameter in signature.getattr("parameters")?.call_method0("values")?.try_iter()?.skip(1) {
        let parameter = parameter?;
        let (name, default) = (parameter.getattr("name")?, parameter.getattr("default")?);
        let kind: String = parameter.getattr("kind")?.getattr("name")?.extract()?;
        if kind.starts_with("VAR_") {
            continue;
        }
        if default.is(&parameter.getattr("empty")?) {
            let fault = format!("{class}: every parameter of __init__ needs a default, and {name} has none");
            return Err(PyTypeError::new_err(fault));
        }
        given.set_item(&name, &default)?;
        defaults.set_item(&name, &default)?;
    }
    let arguments: Vec<Bound<'_, PyAny>> = std::iter::once(py.None().into_bound(py)).chain(positional).collect();
    let bound = signature.call_method("bind", pyo3::types::PyTuple::new(py, arguments)?, keywords)?;
    for item in bound.getattr("arguments")?.call_method0("items")?.try_iter()?.skip(1) {
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
        if given.contains(&name)? {
            given.set_item(name, value)?;
        }
    }
    Ok((settings::params(Some(&given))?, settings::params(Some(&defaults))?))
}

/// A text that lives as long as the program. The same text is kept once.
pub(crate) fn interned(text: &str) -> &'static str {
    static TEXTS: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let texts = texts.get_or_insert_default();
    if let Some(text) = texts.get(text) {
        return text;
    }
    let text: &'static str = Box::leak(text.into());
    texts.insert(text);
    text
}

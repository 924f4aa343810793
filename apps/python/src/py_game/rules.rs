//! The methods of a game in Python, called for one position or for many, with their results checked.

use std::collections::HashMap;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyTuple};
use turnstone_env::{Action, Outcome, Side};

use crate::arrays::{expect_shape, floats};
use crate::errors::rules_error;
use crate::py_game::declaration::overrides;
use crate::py_game::fault::named;
use crate::py_game::layout::{Layout, PyState, tuple};

/// The rules' answers for a position.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Facts {
    pub(super) mover: Side,
    pub(super) outcome: Option<Outcome>,
    /// The legal actions in increasing order.
    pub(super) legal: std::sync::Arc<[Action]>,
}

/// A method that is written for one position, for many at once (`..._many`), or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Forms {
    name: &'static str,
    many_name: &'static str,
    pub(super) one: bool,
    pub(super) many: bool,
}

impl Forms {
    fn of(object: &Bound<'_, PyAny>, name: &'static str, many_name: &'static str) -> PyResult<Self> {
        let forms = Self { name, many_name, one: overrides(object, name)?, many: overrides(object, many_name)? };
        match forms.one || forms.many {
            true => Ok(forms),
            false => Err(PyTypeError::new_err(format!("has neither the method {name} nor {many_name}"))),
        }
    }

    /// Whether the method for many is to be called for this many positions.
    fn at_once(self, positions: usize) -> bool {
        self.many && (positions > 1 || !self.one)
    }
}

/// The rules of a game in Python.
pub(super) struct PyRules {
    pub(super) object: Py<PyAny>,
    pub(super) name: &'static str,
    pub(super) layout: Layout,
    pub(super) actions: usize,
    /// Shape of an observation: planes, height, width.
    pub(super) shape: [usize; 3],
    /// Least and greatest number of an observation.
    pub(super) bounds: [f32; 2],
    pub(super) play: Forms,
    pub(super) mover: Forms,
    pub(super) outcome: Forms,
    pub(super) legal: Forms,
    pub(super) observe: Forms,
    /// Whether texts of legal actions depend on the position.
    pub(super) has_move_text: bool,
}

impl PyRules {
    /// The rules of an instance of a class.
    pub(super) fn new(
        object: &Bound<'_, PyAny>,
        name: &'static str,
        actions: usize,
        shape: [usize; 3],
        bounds: [f32; 2],
    ) -> PyResult<(Self, PyState)> {
        let forms = |one, many| Forms::of(object, one, many).map_err(|error| prefixed(object.py(), name, error));
        let start = object.call_method0("initial_state").map_err(|e| named(object.py(), name, "initial_state", e))?;
        let layout = Layout::of(&start).map_err(|error| named(object.py(), name, "initial_state", error))?;
        let rules = Self {
            object: object.clone().unbind(),
            name,
            actions,
            shape,
            bounds,
            play: forms("play", "play_many")?,
            mover: forms("mover", "mover_many")?,
            outcome: forms("outcome", "outcome_many")?,
            legal: forms("legal_actions", "legal_actions_many")?,
            observe: forms("observation", "observation_many")?,
            has_move_text: overrides(object, "move_text")?,
            layout,
        };
        let start = rules.layout.state(&start)?;
        Ok((rules, start))
    }

    /// Calls a method, and reads its result.
    pub(super) fn call<'py, T>(
        &self,
        py: Python<'py>,
        method: &str,
        arguments: impl pyo3::call::PyCallArgs<'py>,
        read: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> PyResult<T> {
        let result = self.object.bind(py).call_method1(method, arguments);
        result.and_then(|result| read(&result)).map_err(|error| named(py, self.name, method, error))
    }

    /// The states after actions.
    pub(super) fn plays(&self, py: Python<'_>, plays: &[(PyState, Action)]) -> PyResult<Vec<PyState>> {
        if self.play.at_once(plays.len()) {
            let states: Vec<PyState> = plays.iter().map(|(state, _)| *state).collect();
            let actions = PyArray1::from_iter(py, plays.iter().map(|(_, action)| i64::from(action.0)));
            let arguments = (self.layout.objects(py, &states)?, actions);
            return self.call(py, self.play.many_name, arguments, |result| self.layout.states(result, plays.len()));
        }
        let one = |(state, action): &(PyState, Action)| {
            let state = self.layout.object(py, state)?;
            self.call(py, self.play.name, (state, action.0), |result| self.layout.state(result))
        };
        plays.iter().map(one).collect()
    }

    /// The rules' answers for positions.
    pub(super) fn facts(&self, py: Python<'_>, states: &[PyState]) -> PyResult<Vec<Facts>> {
        let movers = self.answers(py, self.mover, states, side, |result| {
            integers(result, states.len())?.into_iter().map(side_of).collect()
        })?;
        let outcomes = self.answers(py, self.outcome, states, outcome, |result| outcomes(result, states.len()))?;
        let running: Vec<PyState> =
            states.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_none()).map(|(state, _)| *state).collect();
        let legal = self.answers(
            py,
            self.legal,
            &running,
            |result| self.legal(result),
            |result| self.legal_rows(result, running.len()),
        )?;
        let mut legal = legal.into_iter();
        let facts = movers.into_iter().zip(outcomes).map(|(mover, outcome)| {
            let legal = if outcome.is_none() { legal.next().unwrap_or_default() } else { Vec::new() };
            Facts { mover, outcome, legal: legal.into() }
        });
        Ok(facts.collect())
    }

    /// The observations of positions, one after the other.
    pub(super) fn observations(&self, py: Python<'_>, states: &[PyState]) -> PyResult<Vec<Box<[f32]>>> {
        let [planes, height, width] = self.shape;
        let read = |result: &Bound<'_, PyAny>, shape: &[usize]| {
            let array = floats(result, "the observation")?;
            let (given, expected) = (tuple(array.shape()), tuple(shape));
            if given != expected {
                return Err(PyValueError::new_err(format!("returned the shape {given}, not {expected}")));
            }
            let numbers = array.as_slice()?;
            let [least, most] = self.bounds;
            match numbers.iter().find(|number| !(least..=most).contains(number)) {
                None => Ok(numbers.chunks_exact(planes * height * width).map(Box::from).collect::<Vec<Box<[f32]>>>()),
                Some(number) => {
                    let fault = format!("returned {number}, but observation_bounds is ({least}, {most})");
                    Err(PyValueError::new_err(fault))
                }
            }
        };
        let one = |result: &Bound<'_, PyAny>| {
            read(result, &self.shape)?.pop().ok_or_else(|| PyValueError::new_err("returned no plane"))
        };
        self.answers(py, self.observe, states, one, |result| read(result, &[states.len(), planes, height, width]))
    }

    /// The answers of a method for positions: in one call, if it is written for many, or in one for each.
    fn answers<T>(
        &self,
        py: Python<'_>,
        forms: Forms,
        states: &[PyState],
        one: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
        many: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Vec<T>>,
    ) -> PyResult<Vec<T>> {
        if states.is_empty() {
            return Ok(Vec::new());
        }
        if forms.at_once(states.len()) {
            return self.call(py, forms.many_name, (self.layout.objects(py, states)?,), many);
        }
        let ask = |state: &PyState| self.call(py, forms.name, (self.layout.frozen(py, state)?,), &one);
        states.iter().map(ask).collect()
    }

    /// The legal actions of a position in which the game is not over: integers, or a mask.
    fn legal(&self, result: &Bound<'_, PyAny>) -> PyResult<Vec<Action>> {
        if let Ok(mask) = result.extract::<PyReadonlyArrayDyn<'_, bool>>() {
            expect_shape(mask.as_untyped(), &[self.actions], "the legal actions")?;
            return self.listed(
                mask.as_array().iter().enumerate().filter(|(_, legal)| **legal).map(|(action, _)| action as i64),
            );
        }
        if let Ok(array) = result.extract::<PyReadonlyArray1<'_, i64>>() {
            return self.listed(array.as_array().iter().copied());
        }
        let actions: PyResult<Vec<i64>> = result.try_iter()?.map(|action| integer(&action?)).collect();
        self.listed(actions?.into_iter())
    }

    /// The legal actions of positions from their masks, bool [positions, actions].
    fn legal_rows(&self, result: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<Vec<Action>>> {
        let wrong = |_| {
            let (kind, expected) = (result.get_type(), tuple(&[count, self.actions]));
            PyTypeError::new_err(format!("must return masks, an array of bool {expected}, not {kind}"))
        };
        let masks: PyReadonlyArrayDyn<'_, bool> = result.extract().map_err(wrong)?;
        expect_shape(masks.as_untyped(), &[count, self.actions], "the legal actions")?;
        let numbers: Vec<bool> = masks.as_array().iter().copied().collect();
        let row = |mask: &[bool]| {
            self.listed(mask.iter().enumerate().filter(|(_, legal)| **legal).map(|(action, _)| action as i64))
        };
        numbers.chunks_exact(self.actions).map(row).collect()
    }

    /// Legal actions in increasing order.
    fn listed(&self, actions: impl Iterator<Item = i64>) -> PyResult<Vec<Action>> {
        let mut listed = Vec::new();
        for action in actions {
            let index = u16::try_from(action).ok().filter(|&index| usize::from(index) < self.actions);
            let last = self.actions - 1;
            let wrong = || PyValueError::new_err(format!("returned the action {action}: the actions are 0 to {last}"));
            listed.push(Action(index.ok_or_else(wrong)?));
        }
        listed.sort_unstable();
        if let Some(pair) = listed.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PyValueError::new_err(format!("returned the action {} twice", pair[0].0)));
        }
        if listed.is_empty() {
            return Err(PyValueError::new_err("returned no action, but the game has no outcome"));
        }
        Ok(listed)
    }

    /// The texts of all actions, and the action of each text.
    pub(super) fn texts(&self, py: Python<'_>) -> PyResult<(Vec<String>, HashMap<String, Action>)> {
        let has_texts = overrides(self.object.bind(py), "action_text")?;
        let text = |action: usize| match has_texts {
            true => self.call(py, "action_text", (action,), |text| text.extract()),
            false => Ok(action.to_string()),
        };
        let texts = (0..self.actions).map(text).collect::<PyResult<Vec<String>>>()?;
        let by_text =
            texts.iter().enumerate().rev().map(|(action, text)| (text.clone(), Action(action as u16))).collect();
        Ok((texts, by_text))
    }

    /// The text of a legal action in a position.
    pub(super) fn move_text(&self, py: Python<'_>, state: &PyState, action: Action) -> PyResult<String> {
        self.call(py, "move_text", (self.layout.frozen(py, state)?, action.0), |text| text.extract())
    }

    /// The position in a text of the game's own notation, or its numbers.
    pub(super) fn position_text(&self, py: Python<'_>, state: &PyState) -> PyResult<String> {
        if !overrides(self.object.bind(py), "position_text")? {
            return Ok(self.layout.text(state));
        }
        self.call(py, "position_text", (self.layout.frozen(py, state)?,), |text| text.extract())
    }

    /// The position of a text.
    pub(super) fn parse_position(&self, py: Python<'_>, text: &str) -> PyResult<PyState> {
        if !overrides(self.object.bind(py), "parse_position")? {
            return self.layout.parse(text).map_err(PyValueError::new_err);
        }
        self.call(py, "parse_position", (text,), |state| self.layout.state(state))
    }

    /// The board drawn as text.
    pub(super) fn draw(&self, py: Python<'_>, state: &PyState) -> PyResult<String> {
        let object = self.layout.frozen(py, state)?;
        if !overrides(self.object.bind(py), "draw")? {
            return Ok(object.str()?.to_string());
        }
        self.call(py, "draw", (object,), |text| text.extract())
    }

    /// The image of a position under a symmetry, given the image of each point.
    pub(super) fn permuted(&self, py: Python<'_>, state: &PyState, points: &[u16]) -> PyResult<PyState> {
        let images = PyArray1::from_iter(py, points.iter().map(|&point| i64::from(point)));
        if overrides(self.object.bind(py), "permuted")? {
            let arguments = (self.layout.object(py, state)?, images);
            return self.call(py, "permuted", arguments, |state| self.layout.state(state));
        }
        let object = self.layout.object(py, state)?;
        let planes = object.call_method1("reshape", ((-1, points.len()),))?;
        let image = planes.call_method0("copy")?;
        let everywhere = pyo3::types::PySlice::full(py);
        image.set_item((everywhere, images), planes)?;
        self.layout.state(&image.call_method1("reshape", (object.getattr("shape")?,))?)
    }
}

/// An exception with the game's name in front.
fn prefixed(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    rules_error(format!("{name}: {}", error.value(py)))
}

/// An integer, but no `bool`.
fn integer(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    let wrong = |_| PyTypeError::new_err(format!("returned {object}, not an integer"));
    if object.is_instance_of::<PyBool>() { Err(wrong(())) } else { object.extract().map_err(|_| wrong(())) }
}

fn side(object: &Bound<'_, PyAny>) -> PyResult<Side> {
    side_of(object.extract().map_err(|_| PyTypeError::new_err(format!("returned {object}, not 0 or 1")))?)
}

fn side_of(player: i64) -> PyResult<Side> {
    match player {
        0 => Ok(Side::First),
        1 => Ok(Side::Second),
        _ => Err(PyValueError::new_err(format!("returned {player}, but the players are 0 and 1"))),
    }
}

/// `None` while the game is not over, 1, 0 or -1 for player 0, or `"truncated"`.
fn outcome(object: &Bound<'_, PyAny>) -> PyResult<Option<Outcome>> {
    if object.is_none() {
        return Ok(None);
    }
    if let Ok(text) = object.cast::<PyString>()
        && text == "truncated"
    {
        return Ok(Some(Outcome::truncation()));
    }
    let fault = || PyValueError::new_err(format!("returned {object}, not None, 1, 0, -1 or 'truncated'"));
    let value: f64 = object.extract().map_err(|_| fault())?;
    outcome_of(value).map(Some).ok_or_else(fault)
}

fn outcome_of(value: f64) -> Option<Outcome> {
    match value {
        1.0 => Some(Outcome::win(Side::First)),
        0.0 => Some(Outcome::draw()),
        -1.0 => Some(Outcome::win(Side::Second)),
        _ => None,
    }
}

/// Outcomes of many positions, `(over, values)` or `(over, values, truncated)`.
fn outcomes(object: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<Option<Outcome>>> {
    let tuple: &Bound<'_, PyTuple> = object.cast().map_err(|_| {
        PyTypeError::new_err("must return a tuple of arrays: (over, values) or (over, values, truncated)")
    })?;
    let flags = |place: usize, name: &str| {
        let wrong = |_| PyTypeError::new_err(format!("returned no array of bool as `{name}`"));
        let flags: PyReadonlyArrayDyn<'_, bool> = tuple.get_item(place)?.extract().map_err(wrong)?;
        expect_shape(flags.as_untyped(), &[count], name)?;
        Ok::<Vec<bool>, PyErr>(flags.as_array().iter().copied().collect())
    };
    let over = flags(0, "over")?;
    let values = integers(&tuple.get_item(1)?, count)?;
    let truncated = if tuple.len() > 2 { flags(2, "truncated")? } else { vec![false; count] };
    let outcome = |((over, value), truncated): ((bool, i64), bool)| match (over, truncated) {
        (false, _) => Ok(None),
        (true, true) => Ok(Some(Outcome::truncation())),
        (true, false) => {
            let fault = || PyValueError::new_err(format!("returned the value {value}, not 1, 0 or -1"));
            outcome_of(value as f64).map(Some).ok_or_else(fault)
        }
    };
    over.into_iter().zip(values).zip(truncated).map(outcome).collect()
}

/// One integer for each of this many positions.
fn integers(object: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<i64>> {
    let array = crate::arrays::integers(object, "the results")?;
    expect_shape(array.as_untyped(), &[count], "the results")?;
    Ok(array.as_array().iter().copied().collect())
}

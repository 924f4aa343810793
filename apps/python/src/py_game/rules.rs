//! The methods of a game in Python, called for one position or for many, with their results checked.

use std::collections::HashMap;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyString, PyTuple};
use turnstone_env::{Action, Outcome, Side};

use crate::arrays::{expect_shape, floats, tuple};
use crate::errors::rules_error;
use crate::py_game::declaration::overrides;
use crate::py_game::fault::named;
use crate::py_game::layout::{Layout, PyState};

/// The rules' answers for a position.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Facts {
    pub(super) mover: Side,
    pub(super) outcome: Option<Outcome>,
    /// The legal actions in increasing order.
    pub(super) legal: std::sync::Arc<[Action]>,
}

/// The numbers of an observation.
pub(super) type Observation = Box<[f32]>;

/// The answers for a position, with its observation if that was given too.
pub(super) type Known = (Facts, Option<Observation>);

/// The most that an evaluation may be to either side.
const MOST_EVALUATION: i64 = 100_000;

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
        Ok(Self { name, many_name, one: overrides(object, name)?, many: overrides(object, many_name)? })
    }

    /// Whether the method is written at all.
    pub(super) fn any(self) -> bool {
        self.one || self.many
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
    /// Whether one method answers what the four others do.
    pub(super) expands: bool,
    pub(super) has_evaluation: bool,
    /// Whether the board is drawn from pieces.
    pub(super) has_pieces: bool,
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
        let expands = overrides(object, "expand")?;
        let forms = |one, many| match Forms::of(object, one, many)? {
            forms if forms.any() || expands && one != "play" => Ok(forms),
            _ => Err(rules_error(format!("{name}: has neither the method {one} nor {many}"))),
        };
        let start = object.call_method0("initial_state").map_err(|e| named(object.py(), name, "initial_state", e))?;
        let layout =
            Layout::of(object, name, &start).map_err(|error| named(object.py(), name, "initial_state", error))?;
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
            expands,
            has_evaluation: overrides(object, "evaluation")?,
            has_pieces: overrides(object, "pieces")?,
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

    /// Whether there are methods for the mover, the outcome and the legal actions.
    pub(super) fn has_facts(&self) -> bool {
        self.mover.any() && self.outcome.any() && self.legal.any()
    }

    /// All answers for positions in one call, if there is a method for that: with the observations, if it gives them. Otherwise
    /// those of `facts`.
    pub(super) fn expanded(&self, py: Python<'_>, states: &[PyState]) -> PyResult<Vec<Known>> {
        if !self.expands {
            return Ok(self.facts(py, states)?.into_iter().map(|facts| (facts, None)).collect());
        }
        self.call(py, "expand", (self.layout.objects(py, states)?,), |result| self.expansions(result, states.len()))
    }

    /// What `expand` has returned for this many positions.
    fn expansions(&self, result: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<Known>> {
        let wrong = || PyTypeError::new_err("must return a tuple: (movers, outcomes, legal_actions, observations)");
        let (movers, outcomes, legal, observations): (
            Bound<'_, PyAny>,
            Bound<'_, PyAny>,
            Bound<'_, PyAny>,
            Bound<'_, PyAny>,
        ) = result.extract().map_err(|_| wrong())?;
        let movers = each(&movers, count, "movers", side)?;
        let outcomes = each(&outcomes, count, "outcomes", outcome)?;
        let mut legal = each(&legal, count, "legal actions", |legal| Ok(legal.clone()))?.into_iter();
        let observations = match observations.is_none() {
            true => vec![None; count],
            false => self.planes(&observations, &[&[count], &self.shape[..]].concat())?.into_iter().map(Some).collect(),
        };
        let facts = movers.into_iter().zip(outcomes).zip(observations).map(|((mover, outcome), observation)| {
            let legal = legal.next().filter(|_| outcome.is_none());
            let legal = legal.map_or_else(|| Ok(Vec::new()), |legal| self.legal(&legal))?;
            Ok((Facts { mover, outcome, legal: legal.into() }, observation))
        });
        facts.collect()
    }

    /// The answers of `mover`, `outcome` and `legal_actions` for positions.
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
    pub(super) fn observations(&self, py: Python<'_>, states: &[PyState]) -> PyResult<Vec<Observation>> {
        if !self.observe.any() {
            let missing = || {
                let name = self.name;
                rules_error(format!("{name}.expand: returned no observations, and {name} has no method observation"))
            };
            let expanded = self.expanded(py, states)?.into_iter();
            return expanded.map(|(_, observation)| observation.ok_or_else(missing)).collect();
        }
        let one = |result: &Bound<'_, PyAny>| {
            self.planes(result, &self.shape)?.pop().ok_or_else(|| PyValueError::new_err("returned no plane"))
        };
        let many = |result: &Bound<'_, PyAny>| self.planes(result, &[&[states.len()], &self.shape[..]].concat());
        self.answers(py, self.observe, states, one, many)
    }

    /// The observations in an array of this shape.
    fn planes(&self, result: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<Observation>> {
        let array = floats(result, "the observation")?;
        if array.shape() != shape {
            let (given, expected) = (tuple(array.shape()), tuple(shape));
            return Err(PyValueError::new_err(format!("returned the shape {given}, not {expected}")));
        }
        let numbers = array.as_slice()?;
        let [least, most] = self.bounds;
        match numbers.iter().find(|number| !(least..=most).contains(number)) {
            None => Ok(numbers.chunks_exact(self.shape.iter().product()).map(Box::from).collect()),
            Some(number) => {
                let fault = format!("returned {number}, but observation_bounds is ({least}, {most})");
                Err(PyValueError::new_err(fault))
            }
        }
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
        if let Ok(list) = result.cast::<PyList>() {
            let actions: PyResult<Vec<i64>> = list.iter().map(|action| integer(&action)).collect();
            return self.listed(actions?.into_iter());
        }
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
            let state = self.layout.parse(text).map_err(PyValueError::new_err)?;
            return match &self.layout {
                Layout::Objects(objects) if !objects.is_unchanged(py, &state)? => {
                    Err(PyValueError::new_err("is not the key of a position"))
                }
                _ => Ok(state),
            };
        }
        self.call(py, "parse_position", (text,), |state| self.layout.state(state))
    }

    /// The evaluation of a running position for player 0.
    pub(super) fn evaluation(&self, py: Python<'_>, state: &PyState) -> PyResult<i32> {
        self.call(py, "evaluation", (self.layout.frozen(py, state)?,), |result| {
            let number = integer(result)?;
            let limit = MOST_EVALUATION;
            let fault = || PyValueError::new_err(format!("returned {number}, not a number from -{limit} to {limit}"));
            if number.abs() <= limit { Ok(number as i32) } else { Err(fault()) }
        })
    }

    /// Whose piece is on each point.
    pub(super) fn pieces(&self, py: Python<'_>, state: &PyState) -> PyResult<Vec<Option<Side>>> {
        self.call(py, "pieces", (self.layout.frozen(py, state)?,), |result| {
            let numbers = crate::arrays::integers(result, "pieces")?;
            let points = self.shape[1] * self.shape[2];
            if numbers.len() != points {
                return Err(PyValueError::new_err(format!("returned {} numbers for {points} points", numbers.len())));
            }
            let piece = |&number: &i64| match number {
                0 => Ok(None),
                1 => Ok(Some(Side::First)),
                -1 => Ok(Some(Side::Second)),
                _ => Err(PyValueError::new_err(format!("returned {number}, not 1, -1 or 0"))),
            };
            numbers.as_array().iter().map(piece).collect()
        })
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
        if matches!(self.layout, Layout::Objects(_)) {
            let fault =
                format!("{}: states that are objects need permuted(state, points) for the symmetries", self.name);
            return Err(rules_error(fault));
        }
        let object = self.layout.object(py, state)?;
        let planes = object.call_method1("reshape", ((-1, points.len()),))?;
        let image = planes.call_method0("copy")?;
        let everywhere = pyo3::types::PySlice::full(py);
        image.set_item((everywhere, images), planes)?;
        self.layout.state(&image.call_method1("reshape", (object.getattr("shape")?,))?)
    }
}

/// The items of an array or a sequence, of which there have to be as many.
fn each<'py, T>(
    object: &Bound<'py, PyAny>,
    count: usize,
    name: &str,
    read: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let items: Vec<T> = match object.cast::<PyList>() {
        Ok(list) => list.iter().map(|item| read(&item)).collect::<PyResult<_>>()?,
        Err(_) => object.try_iter()?.map(|item| read(&item?)).collect::<PyResult<_>>()?,
    };
    let returned = items.len();
    let wrong = || PyValueError::new_err(format!("returned {returned} {name}, not {count}"));
    (returned == count).then_some(items).ok_or_else(wrong)
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

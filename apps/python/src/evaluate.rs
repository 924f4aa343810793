//! A Python function as an evaluator of leaves.

use std::cell::RefCell;
use std::sync::Arc;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyString, PyTuple};
use turnstone_search::{Fault, TensorFunction, TensorRows};

use crate::arrays::{expect_shape, floats};
use crate::errors::value_error;
use crate::game::Game;
use crate::waiting::handle_signals;

thread_local! {
    /// Addresses of the [`Leaves`] whose functions this thread is calling, the innermost last.
    static CALLED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Evaluator of the leaves of a search.
pub(crate) enum Leaves {
    /// A function `evaluate(observations, masks) -> (policy_logits, values)`.
    Function(Py<PyAny>),
    /// `"uniform"`: equal priors and value 0.
    Uniform,
}

impl Leaves {
    pub(crate) fn new(evaluate: &Bound<'_, PyAny>) -> PyResult<Self> {
        if evaluate.is_instance_of::<PyString>() {
            let name: String = evaluate.extract()?;
            if name != "uniform" {
                return Err(value_error(format!("evaluate is '{name}', but must be a function or 'uniform'")));
            }
            return Ok(Self::Uniform);
        }
        if !evaluate.is_callable() {
            let kind = evaluate.get_type();
            return Err(PyTypeError::new_err(format!("evaluate must be a function or 'uniform', not {kind}")));
        }
        Ok(Self::Function(evaluate.clone().unbind()))
    }

    /// Shows the function to the garbage collector, as it may refer to the object that holds it.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Function(function) => visit.call(function),
            Self::Uniform => Ok(()),
        }
    }

    /// The error of a call while another one runs, of an object of the class `kind`.
    pub(crate) fn in_use(&self, kind: &str) -> PyErr {
        let own = CALLED.with_borrow(|called| called.contains(&self.address()));
        PyRuntimeError::new_err(if own {
            format!(
                "the evaluator of this {kind} uses it while it waits for the evaluator: make another {kind} for that"
            )
        } else {
            format!("the {kind} is being used by another thread")
        })
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The function's result, with the evaluator marked as being called.
    fn call<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        arguments: impl pyo3::call::PyCallArgs<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        CALLED.with_borrow_mut(|called| called.push(self.address()));
        let result = function.call1(arguments);
        CALLED.with_borrow_mut(Vec::pop);
        result
    }

    /// The function for the searches of a game; `None` for `"uniform"`.
    pub(crate) fn tensors(self: &Arc<Self>, game: &Game) -> Option<TensorFunction> {
        let Self::Function(_) = **self else { return None };
        let (leaves, shape, actions) = (Arc::clone(self), game.shape(), game.rules.spec().actions);
        Some(Arc::new(move |rows| leaves.evaluate(rows, shape, actions).map_err(Fault::new).flatten()))
    }

    /// Calls the function with the tensors of some positions. Returns its exception, or the fault of its results.
    fn evaluate(
        &self,
        positions: &mut dyn TensorRows,
        [planes, height, width]: [usize; 3],
        actions: usize,
    ) -> PyResult<Result<(), Fault>> {
        let Self::Function(function) = self else { return Ok(Ok(())) };
        let rows = positions.rows();
        let (mut observations, mut masks) = (vec![0.0; rows * planes * height * width], vec![false; rows * actions]);
        positions.fill(&mut observations, &mut masks);
        Python::attach(|py| {
            py.check_signals()?;
            // The arrays take over the memory; the function may keep them.
            let observations = PyArray1::from_vec(py, observations).reshape([rows, planes, height, width])?;
            let masks = PyArray1::from_vec(py, masks).reshape([rows, actions])?;
            let result = self.call(function.bind(py), (observations, masks))?;
            let (logits, values) = pair(&result)?;
            let logits = floats(&logits, "the policy_logits of evaluate")?;
            expect_shape(logits.as_untyped(), &[rows, actions], "the policy_logits of evaluate")?;
            let values = floats(&values, "the values of evaluate")?;
            // A network's last layer of width 1 leaves an axis of length 1.
            if numpy::PyUntypedArrayMethods::shape(values.as_untyped()) != [rows, 1] {
                expect_shape(values.as_untyped(), &[rows], "the values of evaluate")?;
            }
            Ok(positions.answer(logits.as_slice()?, values.as_slice()?))
        })
    }

    /// Looks for signals where no function of Python does.
    pub(crate) fn handle_signals(&self) -> Result<(), Fault> {
        match self {
            Self::Function(_) => Ok(()),
            Self::Uniform => handle_signals().map_err(Fault::new),
        }
    }
}

/// The two results of an evaluator.
fn pair<'py>(result: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    match result.cast::<PyTuple>() {
        Ok(tuple) if tuple.len() == 2 => Ok((tuple.get_item(0)?, tuple.get_item(1)?)),
        Ok(tuple) => {
            let count = tuple.len();
            Err(PyTypeError::new_err(format!("evaluate must return (policy_logits, values), not {count} things")))
        }
        Err(_) => {
            let kind = result.get_type();
            Err(PyTypeError::new_err(format!("evaluate must return a tuple (policy_logits, values), not {kind}")))
        }
    }
}

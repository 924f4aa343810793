//! NumPy arrays from outside: converted where they have to be, and checked.

use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};

/// An array of integers of any kind as int64, without a copy if it is one already. `name` names it in errors.
pub(crate) fn integers<'py>(given: &Bound<'py, PyAny>, name: &str) -> PyResult<PyReadonlyArrayDyn<'py, i64>> {
    if let Ok(array) = given.cast::<PyArrayDyn<i64>>()
        && array.is_c_contiguous()
    {
        return Ok(array.try_readonly()?);
    }
    let py = given.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    // NumPy makes a number of a bool among integers.
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        let kinds = (py.get_type::<PyBool>(), numpy.getattr(intern!(py, "bool_"))?).into_pyobject(py)?;
        for item in given.try_iter()? {
            if item?.is_instance(&kinds)? {
                return Err(PyTypeError::new_err(format!("{name} must be integers, not bool")));
            }
        }
    }
    let array = numpy.call_method1(intern!(py, "asarray"), (given,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind.as_str(), "i" | "u") {
        let kind = array.getattr("dtype")?;
        return Err(PyTypeError::new_err(format!("{name} must be integers, not {kind}")));
    }
    converted(&array, "int64")
}

/// An array of numbers as C-contiguous float32, without a copy if it is one already.
pub(crate) fn floats<'py>(given: &Bound<'py, PyAny>, name: &str) -> PyResult<PyReadonlyArrayDyn<'py, f32>> {
    if let Ok(array) = given.cast::<PyArrayDyn<f32>>()
        && array.is_c_contiguous()
    {
        return Ok(array.try_readonly()?);
    }
    converted(given, "float32").map_err(|error| {
        let py = given.py();
        if !error.is_instance_of::<PyTypeError>(py) && !error.is_instance_of::<PyValueError>(py) {
            return error;
        }
        let kind = given.get_type();
        let value = error.value(py).to_string();
        let wrong = PyTypeError::new_err(format!("{name} cannot be an array of float32: {value} ({kind})"));
        wrong.set_cause(py, Some(error));
        wrong
    })
}

fn converted<'py, T: numpy::Element>(given: &Bound<'py, PyAny>, dtype: &str) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let py = given.py();
    let options = PyDict::new(py);
    options.set_item("dtype", dtype)?;
    options.set_item("order", "C")?;
    let array = py.import(intern!(py, "numpy"))?.call_method("asarray", (given,), Some(&options))?;
    Ok(array.cast_into::<PyArrayDyn<T>>()?.try_readonly()?)
}

/// Checks the shape of an array.
pub(crate) fn expect_shape(array: &Bound<'_, PyUntypedArray>, shape: &[usize], name: &str) -> PyResult<()> {
    if array.shape() == shape {
        return Ok(());
    }
    let (given, expected) = (tuple(array.shape()), tuple(shape));
    Err(PyValueError::new_err(format!("{name} have the shape {given}, not {expected}")))
}

/// A shape as Python writes it.
pub(crate) fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("{shape:?}").replace('[', "(").replace(']', ")"),
    }
}

//! What needs the whole program: training, arena, grading, exact values, the command line.

mod solving;
mod grading;
mod matches;
mod training;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use pyo3::prelude::*;
use turnstone::Program;

use crate::errors::program_error;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    turnstone::name_program();
    module.add_class::<solving::ExactValues>()?;
    module.add_function(wrap_pyfunction!(solving::exact_values, module)?)?;
    module.add_function(wrap_pyfunction!(grading::grade, module)?)?;
    module.add_function(wrap_pyfunction!(matches::arena, module)?)?;
    module.add_function(wrap_pyfunction!(training::train, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    Ok(())
}

/// Runs the command line with these arguments, the first of which is the program's name; returns the exit code.
#[pyfunction]
#[pyo3(name = "_main")]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = Program::new().main_from(arguments);
        let _ = std::io::stdout().flush(); // the interpreter does not know of this buffer
        (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(1)
    })
}

/// An error with its causes, which displays them in its alternate form.
fn failure<E: Display + std::ops::Deref<Target = dyn std::error::Error + Send + Sync + 'static>>(error: &E) -> PyErr {
    program_error(&**error, format!("{error:#}").replace('\n', " "))
}

/// Number of threads, by default one per core.
fn threads(given: Option<usize>) -> usize {
    given.filter(|&threads| threads > 0).unwrap_or_else(turnstone_trainer::config::cores)
}

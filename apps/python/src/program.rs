//! What needs the whole program: training, arena, grading, exact values, the command line.

mod solving;
mod grading;
mod certifying;
mod functions;
mod matches;
mod processes;
mod training;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use pyo3::prelude::*;
use turnstone::Program;
use turnstone_agents::register_agent;

use crate::py_game::unwound;
use crate::registry::built_in;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_agent::<functions::Kind>();
    module.add_class::<solving::ExactValues>()?;
    module.add_function(wrap_pyfunction!(solving::exact_values, module)?)?;
    module.add_function(wrap_pyfunction!(grading::grade, module)?)?;
    module.add_function(wrap_pyfunction!(certifying::certify, module)?)?;
    module.add_function(wrap_pyfunction!(matches::arena, module)?)?;
    module.add_function(wrap_pyfunction!(training::train, module)?)?;
    module.add_function(wrap_pyfunction!(processes::play_games, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    Ok(())
}

/// Runs the command line with these arguments, the first of which is the program's name; returns the exit code.
#[pyfunction]
#[pyo3(name = "_main")]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| {
        let code = unwound(|| Program::from(built_in()).main_from(arguments));
        let _ = std::io::stdout().flush(); // the interpreter does not know of this buffer
        code
    });
    code.map_or_else(
        |error| {
            eprintln!("error: {}", error.value(py));
            1
        },
        |code| (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(1),
    )
}

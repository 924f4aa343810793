//! Agents and many games from their pickles.

use pyo3::prelude::*;

use crate::agent::Agent;
use crate::envs_record::EnvsRecord;
use crate::game::Game;
use crate::vec_env::VecEnv;

/// An agent of a pickle, which has made so many choices.
#[pyfunction]
#[pyo3(name = "_restore_agent")]
pub(crate) fn restore_agent(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    spec: &str,
    seed: u64,
    choices: u64,
) -> PyResult<Agent> {
    Agent::restored(py, game, spec, seed, choices)
}

/// The envs of a pickle.
#[pyfunction]
#[pyo3(name = "_restore_envs")]
pub(crate) fn restore_envs(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    threads: Option<i64>,
    autoreset: &str,
    record: EnvsRecord,
) -> PyResult<VecEnv> {
    let lanes = record.record(&Game::of(game)?)?;
    VecEnv::restored(py, game, threads, autoreset, &lanes, record.2)
}

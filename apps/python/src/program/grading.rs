//! Grading of agents against exact values.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use turnstone_agents::{Agent, AgentSpec, Effort};
use turnstone_arena::grading::{self, Sampling, TruthSet};
use turnstone_base::machine::cores;
use turnstone_search::Stop;

use crate::errors::{agent_error, program_error, value_error};
use crate::game::Game;

/// Grades an agent; returns the grade as JSON.
#[pyfunction]
#[pyo3(name = "_grade")]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn grade(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    agent: &str,
    positions: Option<PathBuf>,
    sample: Option<usize>,
    phase: Option<&str>,
    critical: bool,
    tables: PathBuf,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<String> {
    let game = Game::of(game)?;
    let agent = agent.parse::<AgentSpec>().map_err(agent_error)?;
    let phase = phase.map(str::parse).transpose().map_err(value_error)?;
    let stop = Stop::default();
    let (flag, rules) = (stop.clone(), Arc::clone(&game.rules));
    let work = move || {
        let rules = &*rules;
        let set = || {
            let name = rules.name();
            if let Some(path) = positions {
                return TruthSet::read(&path, rules).map_err(value_error);
            }
            let Some(count) = sample else {
                let missing = || value_error(format!("{name} comes without exact values: give positions or sample"));
                return grading::known(rules).map_err(program_error)?.ok_or_else(missing);
            };
            let values = rules.exact_values(&tables, Effort::Full).map_err(value_error)?;
            let values = values.ok_or_else(|| value_error(format!("{name} has no exact values")))?;
            let sampling = Sampling { count, phase, critical, seed, starts: Vec::new() };
            grading::sample(rules, &*values, &sampling, &|| {}, &stop).map_err(program_error)
        };
        let agent = Agent::load(&agent, rules).map_err(agent_error)?;
        let threads = threads.unwrap_or_else(cores);
        let grade = grading::grade(rules, &agent, &set()?, seed, threads, &|| {}, &stop).map_err(program_error)?;
        serde_json::to_string(&grade).map_err(value_error)
    };
    game.interruptible(py, move || flag.raise(), work)?
}

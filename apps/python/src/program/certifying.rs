//! The worst result of an agent against any opponent.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::json;
use turnstone::PROGRAM;
use turnstone_agents::exact::Extent;
use turnstone_agents::{Agent, AgentSpec};
use turnstone_arena::certifying::{Certifying, check_fixed};
use turnstone_base::files::atomic_write;
use turnstone_base::machine::cores;
use turnstone_env::Side;
use turnstone_search::Stop;

use crate::errors::{agent_error, program_error, value_error};
use crate::game::Game;

/// Certifies an agent as a player, 0 or 1; returns what was found as JSON.
#[pyfunction]
#[pyo3(name = "_certify")]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn certify(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    agent: &str,
    player: usize,
    out: Option<PathBuf>,
    positions: usize,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<String> {
    let game = Game::of(game)?;
    let spec = agent.parse::<AgentSpec>().map_err(agent_error)?;
    let seat = *Side::BOTH.get(player).ok_or_else(|| value_error("player must be 0 or 1"))?;
    let stop = Stop::default();
    let (flag, rules) = (stop.clone(), Arc::clone(&game.rules));
    let work = move || {
        let rules = &*rules;
        let agent = Agent::load(&spec, rules).map_err(agent_error)?;
        check_fixed(&agent).map_err(program_error)?;
        let certifying = Certifying {
            game: rules,
            asked: rules,
            agent: &agent,
            seed,
            threads: threads.unwrap_or_else(cores),
            most: positions,
            program: PROGRAM,
            progress: &|_| {},
            stop: &stop,
        };
        let start = rules.start();
        let walked = certifying.walk(seat, std::slice::from_ref(&start), None).map_err(program_error)?;
        let Some((walk, extent)) = walked else { return Ok("null".to_owned()) };
        let findings = walk.findings();
        let (result, is_complete) = (findings.result(0, extent), extent == Extent::Complete);
        if let Some(path) = out.filter(|_| is_complete && result.is_some_and(|result| result >= 0)) {
            let certificate = certifying.certificate(seat, &*walk, &findings).map_err(program_error)?;
            atomic_write(&path, &certificate.to_bytes())?;
        }
        let refutation = findings.refutations[0].as_ref().map(|found| rules.line_texts(&start, &found.line));
        let found = json!({
            "result": result,
            "complete": is_complete,
            "positions": walk.positions(),
            "decisions": walk.moves().count(),
            "beaten": findings.beaten,
            "refutation": refutation,
        });
        Ok(found.to_string())
    };
    game.interruptible(py, move || flag.raise(), work)?
}

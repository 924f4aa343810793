//! Matches and tournaments.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use turnstone_agents::{Agent, AgentSpec, PlayableGame};
use turnstone_arena::{GameRecord, Ladder, Match, MatchFolder, MatchOptions, MatchResult, RatingScale, Running};
use turnstone_base::machine::cores;
use turnstone_base::settings::{Given, Settings};
use turnstone_search::Stop;

use crate::errors::{agent_error, program_error, value_error};
use crate::game::Game;
use crate::program::functions::{Matches, Named};

/// An agent that is given as a spec, or as a name and a function of the state.
#[derive(FromPyObject)]
pub(crate) enum Player {
    Spec(String),
    Function(String, Py<PyAny>),
}

/// What is asked of a match.
struct Asked {
    agents: Vec<AgentSpec>,
    options: MatchOptions,
    ladder: bool,
    threads: usize,
    /// Folder for the games, and whether to go on with those in it.
    out: Option<(PathBuf, bool)>,
}

impl Asked {
    fn folder(&self) -> Option<MatchFolder<'_>> {
        self.out.as_ref().map(|(path, resume)| MatchFolder { path, resume: *resume })
    }
}

/// Numbers of finished games and of all.
#[derive(Default)]
struct Counts {
    finished: AtomicUsize,
    planned: AtomicUsize,
}

/// Plays a match or tournament; `options` holds those of the arena as text. Returns the record and the table of agents as
/// JSON, the report as text, and as an HTML page.
#[pyfunction]
#[pyo3(name = "_arena")]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn arena(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    agents: Vec<Player>,
    options: BTreeMap<String, String>,
    ladder: bool,
    threads: Option<usize>,
    out: Option<(PathBuf, bool)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<[String; 4]> {
    let game = Game::of(game)?;
    let (mut named, matches) = (Named::default(), Matches::default());
    let agents = agents.into_iter().map(|agent| match agent {
        Player::Spec(spec) => spec.parse::<AgentSpec>(),
        Player::Function(name, function) => named.add(&name, function, &game, &matches).parse(),
    });
    let agents = agents.collect::<Result<Vec<_>, _>>();
    let mut asked = Asked {
        agents: agents.map_err(agent_error)?,
        options: MatchOptions::default(),
        ladder,
        threads: threads.unwrap_or_else(cores),
        out,
    };
    for (name, text) in &options {
        asked.options.set(name, &Given::Word(text.clone())).map_err(value_error)?;
    }
    let (stop, counts) = (matches.stop.clone(), Arc::new(Counts::default()));
    let (flag, shown_counts) = (stop.clone(), Arc::clone(&counts));
    let mut shown = usize::MAX;
    let look = |py: Python<'_>| {
        let [finished, planned] =
            [&shown_counts.finished, &shown_counts.planned].map(|count| count.load(Ordering::Relaxed));
        if let Some(progress) = progress.as_ref().filter(|_| planned > 0 && finished != shown) {
            shown = finished;
            progress.call1(py, (finished, planned))?;
        }
        Ok(())
    };
    let (rules, game_of_work) = (Arc::clone(&game.rules), game.clone());
    let report = move || {
        game_of_work.warn_if_endless()?;
        let rules: &dyn PlayableGame = &*rules;
        let result = play(rules, &asked, &counts, &stop);
        let result = matches.fault().map_or(result, Err)?;
        let page = result.page(rules).map_err(program_error)?;
        let [record, table] = [result.json(), result.table()].map(|value| value.to_string());
        Ok([record, table, result.text(), page])
    };
    game.watched(py, move || flag.raise(), look, report)?
}

fn play(game: &dyn PlayableGame, asked: &Asked, counts: &Counts, stop: &Stop) -> PyResult<MatchResult> {
    if let Some(folder) = asked.folder() {
        folder.confirm().map_err(program_error)?;
    }
    let load = |spec| Agent::load(spec, game).map_err(agent_error);
    let mut agents = asked.agents.iter().map(load).collect::<PyResult<Vec<Agent>>>()?;
    let ladder = if asked.ladder { Some(rungs(game, &asked.agents)?) } else { None };
    if let Some(ladder) = &ladder {
        agents.extend(ladder.agents(game).map_err(program_error)?);
    }
    let scale = ladder.as_ref().map_or(RatingScale::Mean, RatingScale::Ladder);
    let prepared = Match::new(game, agents.iter().collect(), &asked.options, scale, stop);
    let interrupted = || PyValueError::new_err("the matches were interrupted before their end");
    let prepared = prepared.map_err(program_error)?.ok_or_else(interrupted)?.played_by(turnstone::PROGRAM);
    counts.planned.store(prepared.games(), Ordering::Relaxed);
    let count = |_: &GameRecord| {
        counts.finished.fetch_add(1, Ordering::Relaxed);
    };
    let played = prepared.play(asked.folder(), &Running::new(asked.threads, &count, stop));
    played.map_err(program_error)?.ok_or_else(interrupted)
}

/// The game's ladder without the one agent that is rated on it.
fn rungs(game: &dyn PlayableGame, agents: &[AgentSpec]) -> PyResult<Ladder> {
    let [agent] = agents else {
        return Err(PyValueError::new_err(format!("a ladder rates one agent, not {}", agents.len())));
    };
    Ladder::shipped(game).and_then(|ladder| ladder.for_agent(agent)).map_err(program_error)
}

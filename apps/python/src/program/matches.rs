//! Matches and tournaments.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use turnstone_agents::{Agent, AgentSpec};
use turnstone_arena::{
    Adjudication, Format, GameRecord, Ladder, OpeningSource, Running, Settings, Summary, Tournament, openings,
    openings_needed, report,
};
use turnstone_base::machine::cores;
use turnstone_base::times::parse_time;

use crate::errors::{agent_error, program_error, value_error};
use crate::game::Game;
use crate::waiting::watched;

/// Where openings come from.
#[derive(FromPyObject)]
enum Openings {
    Plies((u16, u16)),
    Number(u16),
    Book(PathBuf),
}

/// Options of a tournament.
#[derive(FromPyObject)]
pub(crate) struct Options {
    #[pyo3(item)]
    games: usize,
    #[pyo3(item)]
    openings: Option<Openings>,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    format: String,
    #[pyo3(item)]
    rounds: Option<usize>,
    #[pyo3(item)]
    clock: Option<String>,
    #[pyo3(item)]
    sprt: Option<String>,
    #[pyo3(item)]
    adjudicate: bool,
    #[pyo3(item)]
    tables: PathBuf,
    #[pyo3(item)]
    threads: Option<usize>,
    #[pyo3(item)]
    ladder: bool,
}

impl Options {
    fn settings(&self, agents: usize) -> PyResult<Settings> {
        let wrong = |text: String| Err(PyValueError::new_err(text));
        if !(1..=1_000_000).contains(&self.games) {
            return wrong(format!("games is {}, but must be from 1 to 1000000", self.games));
        }
        let format = match self.format.as_str() {
            _ if self.ladder => Format::Gauntlet,
            "round-robin" => Format::RoundRobin,
            "gauntlet" => Format::Gauntlet,
            "swiss" => {
                let needed = agents.next_power_of_two().trailing_zeros().max(1) as usize;
                match self.rounds.unwrap_or(needed) {
                    rounds @ 1..=1000 => Format::Swiss { rounds },
                    rounds => return wrong(format!("rounds is {rounds}, but must be from 1 to 1000")),
                }
            }
            other => return wrong(format!("format is '{other}', but must be 'round-robin', 'gauntlet' or 'swiss'")),
        };
        let clock = self.clock.as_deref().map(|text| parse_time("clock", text)).transpose().map_err(value_error)?;
        let sprt = self.sprt.as_deref().map(str::parse).transpose().map_err(value_error)?;
        let adjudication = if self.adjudicate { Adjudication::Exact } else { Adjudication::None };
        let clock = clock.map(|clock| clock.as_millis() as u64);
        Ok(Settings { clock, sprt, adjudication, ..Settings::plain(format, self.games, self.seed) })
    }

    fn openings(&self, ladder: Option<&Ladder>) -> PyResult<OpeningSource> {
        let range = match (&self.openings, ladder) {
            (None, Some(ladder)) => ladder.openings,
            (None, None) => [2, 6],
            (Some(Openings::Plies((least, most))), _) => [*least, *most],
            (Some(Openings::Number(plies)), _) => [*plies; 2],
            (Some(Openings::Book(path)), _) => return Ok(OpeningSource::Book(path.clone())),
        };
        if range[0] > range[1] || range[1] > 1000 {
            return Err(PyValueError::new_err(format!("openings {range:?}: the range must rise, up to 1000")));
        }
        Ok(OpeningSource::Random(range))
    }
}

/// Plays a match or tournament; returns the record as JSON, the report as text, the chart of ratings as SVG, and the
/// report as an HTML page.
#[pyfunction]
#[pyo3(name = "_arena")]
pub(crate) fn arena(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    agents: Vec<String>,
    options: Options,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String, String, String)> {
    let game = Game::of(game)?;
    let specs = agents.iter().map(|spec| spec.parse::<AgentSpec>()).collect::<Result<Vec<_>, _>>();
    let specs = specs.map_err(|error| agent_error(&error))?;
    let (stop, finished, planned) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let rules = &*game.rules;
    let mut shown = usize::MAX;
    let look = |py: Python<'_>| {
        let games = [&finished, &planned].map(|count| count.load(Ordering::Relaxed));
        if let Some(progress) = progress.as_ref().filter(|_| games[1] > 0 && games[0] != shown) {
            shown = games[0];
            progress.call1(py, (games[0], games[1]))?;
        }
        Ok(())
    };
    let work = || {
        watched(
            py,
            || stop.store(true, Ordering::Relaxed),
            look,
            || {
                let mut agents = Vec::new();
                for spec in &specs {
                    agents.push(Agent::load(spec, rules).map_err(|error| agent_error(&error))?);
                }
                let ladder = if options.ladder {
                    if agents.len() != 1 {
                        return Err(PyValueError::new_err(format!("a ladder rates one agent, not {}", agents.len())));
                    }
                    let ladder = Ladder::shipped(rules).and_then(|ladder| ladder.for_agent(&specs[0]));
                    let ladder = ladder.map_err(|error| program_error(&error))?;
                    agents.extend(ladder.agents(rules).map_err(|error| program_error(&error))?);
                    Some(ladder)
                } else {
                    None
                };
                let settings = options.settings(agents.len())?;
                let source = options.openings(ladder.as_ref())?;
                let needed = openings_needed(&settings);
                let openings = openings(rules, &source, None, needed, settings.seed, &stop);
                let openings = openings.map_err(|error| program_error(&error))?;
                let interrupted = || PyValueError::new_err("the matches were interrupted before their end");
                if stop.load(Ordering::Relaxed) {
                    return Err(interrupted());
                }
                let tournament =
                    Tournament::new(rules, agents.iter().collect(), settings, openings, options.tables.clone())
                        .map_err(|error| program_error(&error))?
                        .played_by(turnstone::PROGRAM);
                planned.store(tournament.games(), Ordering::Relaxed);
                let count = |_: &GameRecord| {
                    finished.fetch_add(1, Ordering::Relaxed);
                };
                let running = Running::new(options.threads.unwrap_or_else(cores), &count, &stop);
                let record = tournament.play(None, Vec::new(), &running).map_err(|error| program_error(&error))?;
                let record = record.ok_or_else(interrupted)?;
                let anchors = ladder.as_ref().map_or_else(|| vec![None; agents.len()], Ladder::anchors);
                let summary = Summary::new(&record, &anchors);
                let mut object = report::json(&record, &summary);
                if let Some(ladder) = &ladder {
                    object["ladder"] = serde_json::to_value(ladder.rate(&record)).map_err(value_error)?;
                }
                let page = report::page(rules, &record, &summary).map_err(|error| program_error(&error))?;
                Ok((object.to_string(), report::text(&record, &summary), report::ratings_svg(&summary), page))
            },
        )
    };
    game.guarded(work)??
}

//! A config examined before a night is spent on it: what it asks for, what that costs on this machine, and what looks
//! like a slip. Nothing is written to disk.

mod measure;
mod plan;
mod memory;
mod checks;

pub use measure::{Match, Measured, SelfPlay};
pub use plan::Plan;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::config::Config;
use turnstone_agents::Agent;
use turnstone_arena::Ladder;
use turnstone_selfplay::TrainableGame;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum Level {
    /// All is well.
    #[serde(rename = "ok")]
    Ok,
    /// The run works, but probably not as it is meant.
    #[serde(rename = "warn")]
    Warn,
    /// The run cannot work.
    #[serde(rename = "FAIL")]
    Fail,
}

/// What one check found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// How bad it is.
    pub level: Level,
    /// What was looked at.
    pub what: &'static str,
    /// What was found.
    pub finding: String,
    /// What to do about it, if anything.
    pub advice: Option<String>,
}

/// All that was found.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Diagnosis {
    /// The checks, in the order of the config's sections.
    pub checks: Vec<Check>,
    /// How fast the parts of the run are here; absent if the config cannot be run.
    pub measured: Option<Measured>,
    /// What the whole run comes to at these speeds.
    pub plan: Option<Plan>,
}

impl Check {
    fn ok(what: &'static str, finding: String) -> Self {
        Self { level: Level::Ok, what, finding, advice: None }
    }

    fn warn(what: &'static str, finding: String, advice: impl Into<String>) -> Self {
        Self { level: Level::Warn, what, finding, advice: Some(advice.into()) }
    }

    fn fail(what: &'static str, finding: String, advice: impl Into<String>) -> Self {
        Self { level: Level::Fail, what, finding, advice: Some(advice.into()) }
    }

    /// The check in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let level = match self.level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "FAIL",
        };
        let advice = self.advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default();
        format!("{level:<5}{:<11}{}{advice}", self.what, self.finding)
    }
}

impl Diagnosis {
    /// The diagnosis of a config that cannot be read.
    #[must_use]
    pub fn unreadable(fault: String) -> Self {
        Self { checks: vec![Check::fail("config", fault, "turnstone train would refuse it")], ..Self::default() }
    }

    /// Whether some check failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.checks.iter().any(|check| check.level == Level::Fail)
    }
}

/// Examines a config, with about `time` of self-play, learning and matches. `None` if `stop` was set before the end.
///
/// # Errors
/// The network cannot be built or trained.
pub fn examine(
    game: &dyn TrainableGame,
    config: &Config,
    time: Duration,
    stop: &AtomicBool,
) -> Result<Option<Diagnosis>> {
    let mut checks = vec![checks::config(game, config)?];
    let opponents = opponents(game, config, &mut checks);
    let Some(measured) = measure::measure(game, config, &opponents, time, stop)? else { return Ok(None) };
    let plan = Plan::of(config, &measured);
    checks.extend([
        checks::search(config, &measured),
        checks::self_play(config, &measured),
        checks::data(config, &measured, &plan),
        checks::schedule(config, &plan),
        checks::arena(config, &plan),
        checks::memory(game, config, &measured, &plan)?,
        checks::disk(game, config, &measured, &plan)?,
        checks::time(&measured, &plan),
    ]);
    Ok(Some(Diagnosis { checks, measured: Some(measured), plan: Some(plan) }))
}

/// The opponents of the run's matches with the games that it will play against each. The best checkpoint is as slow as
/// the network itself, and does not count among them.
fn opponents(game: &dyn TrainableGame, config: &Config, checks: &mut Vec<Check>) -> Vec<(Agent, u64)> {
    let arena = &config.arena;
    let mut opponents = Vec::new();
    for spec in &arena.opponents {
        match Agent::load(spec, game) {
            Ok(agent) => opponents.push((agent, plan::match_games(config, arena.games, arena.final_games))),
            Err(fault) => {
                checks.push(Check::fail("opponents", fault.to_string(), "the run would end at its first match"));
            }
        }
    }
    if arena.ladder_games > 0 {
        match Ladder::shipped(game).and_then(|ladder| ladder.agents(game)) {
            Ok(rungs) => {
                let games = plan::match_games(config, arena.ladder_games, arena.ladder_games);
                opponents.extend(rungs.into_iter().map(|rung| (rung, games)));
            }
            Err(fault) => checks.push(Check::fail("ladder", format!("{fault:#}"), "the run would not start")),
        }
    }
    opponents
}

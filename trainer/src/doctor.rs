//! Checks of a config before training: likely mistakes, and the cost of the run on this machine in time, memory and
//! disk space. Nothing is written to disk.

mod measure;
mod plan;
mod memory;
mod checks;

pub use checks::{Check, Level};
pub use measure::{MatchSpeed, Measured};
pub use plan::Plan;

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use self::measure::Ticks;
use crate::config::Config;
use turnstone_agents::{Agent, Role};
use turnstone_arena::Ladder;
use turnstone_search::Stop;
use turnstone_selfplay::{ENDLESS, TrainableGame, without_end};

/// Results of all checks.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Diagnosis {
    /// The checks, in the order of the config's sections.
    pub checks: Vec<Check>,
    /// Measured speeds on this machine; absent if the config is invalid.
    pub measured: Option<Measured>,
    /// Projection of the whole run at these speeds; absent if the config is invalid.
    pub plan: Option<Plan>,
}

impl Diagnosis {
    /// Returns the diagnosis of a config that cannot be read.
    #[must_use]
    pub fn unreadable(fault: String) -> Self {
        Self { checks: vec![Check::fail("config", fault, "turnstone train would refuse it")], ..Self::default() }
    }

    /// Whether any check failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.checks.iter().any(|check| check.level == Level::Fail)
    }
}

/// Examines a config with about `time` of self-play, learning and matches. Opponents that are other programs are measured
/// if `start_engines` is set; otherwise a check says that they were left out. Returns `None` if `stop` was raised before the
/// end.
///
/// # Errors
/// The network cannot be built or trained.
pub fn examine(
    game: &dyn TrainableGame,
    config: &Config,
    start_engines: bool,
    time: Duration,
    stop: &Stop,
) -> Result<Option<Diagnosis>> {
    let mut checks = vec![checks::config(game, config)?];
    checks.extend(checks::devices(config)?);
    let endless = without_end(game).map(|why| Check::warn("game", why, ENDLESS));
    let has_end = endless.is_none();
    checks.extend(endless);
    if checks.iter().any(|check| check.level == Level::Fail) {
        return Ok(Some(Diagnosis { checks, ..Diagnosis::default() }));
    }
    let mut opponents = opponents(game, config, &mut checks);
    // Matches without an end would be measured until they are stopped.
    opponents.retain(|_| has_end);
    if !start_engines {
        opponents.retain(|(agent, _)| agent.spec.role() != Role::Program);
        checks.extend(config.arena.engines().map(|engine| {
            let finding = format!("`{engine}` starts a program, which was not done; its matches are not measured");
            Check::warn("opponents", finding, "if you trust the config, give --allow-engines")
        }));
    }
    let before = Ticks::now();
    let Some(measured) = measure::measure(game, config, &opponents, time, stop)? else { return Ok(None) };
    let others = before.zip(Ticks::now()).map(|(before, now)| now.others_since(before));
    let plan = Plan::of(config, &measured);
    checks.extend([
        checks::search(config, &measured),
        checks::self_play(config, &measured),
        checks::learn(config, &measured, &plan),
        checks::arena(config, &plan),
        checks::memory(game, config, &measured, &plan)?,
        checks::disk(game, config, &measured, &plan)?,
        checks::time(config, &plan, others),
    ]);
    Ok(Some(Diagnosis { checks, measured: Some(measured), plan: Some(plan) }))
}

/// Loads the opponents of the run's matches, each with the number of games that the run plays against it. Adds a failed
/// check for each that cannot be loaded. Matches against the best checkpoint are left out of the projection.
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

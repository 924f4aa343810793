//! The leader as a player of self-play, matches and grading, which its workers carry out.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use serde::de::DeserializeOwned;
use turnstone_arena::{Remote, RemotePositions, RemoteRound};
use turnstone_selfplay::{
    FinishedGame, Progress, SelfPlayError, SelfPlayGames, SelfPlayStats, SelfPlayer, Task, TrainableGame,
};

use crate::job;
use crate::leader::{Items, Leader};
use crate::messages::Effort;

/// Maximum number of games of self-play of a range: enough for the messages to cost nothing beside the games.
const MOST_GAMES: usize = 32;
/// Maximum number of games of a match, or of positions, of a range: as many as a thread plays side by side.
const MOST_AT_ONCE: usize = 24;

impl SelfPlayer for Leader {
    fn self_play(
        &self,
        game: &dyn TrainableGame,
        task: &Task,
        progress: &Progress,
        stop: &AtomicBool,
    ) -> Result<Option<SelfPlayGames>, SelfPlayError> {
        // Other processors may choose another arithmetic.
        let mut task = task.clone();
        let self_play = &mut task.settings.self_play;
        self_play.precision = self_play.precision.resolved();
        let count = self_play.games_per_iteration;
        let job = job::of_task(game, &task);
        let restore = game.restorer(&task);
        let mut games: Vec<Option<FinishedGame>> = vec![None; count];
        let mut stats = SelfPlayStats::default();
        let mut put = |number: usize, item: &[u8]| Ok(restore(number, item).map(|game| games[number] = Some(game)));
        let mut items = Items {
            job: &job,
            stage: format!("self-play of iteration {}", task.settings.iteration),
            count,
            group: 1,
            most: MOST_GAMES,
            begins_iteration: true,
            put: &mut put,
            is_needed: &|_| true,
            effort: &mut |effort| add_effort(&mut stats, effort),
            progress: &|count| progress.games.store(count as u64, Ordering::Relaxed),
            stop,
        };
        if !self.carry_out(&mut items)? {
            return Ok(None);
        }
        let games = games.into_iter().flatten().collect();
        Ok(Some(SelfPlayGames::new(task.settings.iteration, game.spec().features(), games, stats)))
    }

    fn scalars(&self) -> Vec<(String, f64)> {
        self.counters.scalars()
    }
}

fn add_effort(stats: &mut SelfPlayStats, effort: &Effort) {
    let [requests, hits, merged, batches] = effort.cache;
    stats.positions += effort.positions;
    stats.simulations += effort.simulations;
    stats.cache.requests += requests;
    stats.cache.hits += hits;
    stats.cache.merged += merged;
    stats.cache.batches += batches;
}

fn read<T: DeserializeOwned>(item: &[u8]) -> Result<T, String> {
    serde_json::from_slice(item).map_err(|error| error.to_string())
}

impl Remote for Leader {
    fn play(&self, round: &RemoteRound<'_>) -> Result<bool> {
        let job = job::of_games(round.game, round.agents, round.header, round.plans);
        let mut put = |number: usize, item: &[u8]| match read(item) {
            Ok(record) => match (round.check)(number, &record) {
                Ok(()) => (round.put)(number, record).map(Ok),
                fault => Ok(fault),
            },
            Err(fault) => Ok(Err(fault)),
        };
        let stage = match &round.header.agents[..] {
            [a, b] => format!("games of {} against {}", brief(a), brief(b)),
            agents => format!("games of {} agents", agents.len()),
        };
        let mut items = Items {
            job: &job,
            stage,
            count: round.plans.len(),
            group: 2,
            most: MOST_AT_ONCE,
            begins_iteration: false,
            put: &mut put,
            is_needed: round.is_needed,
            effort: &mut |_| {},
            progress: &|_| {},
            stop: round.stop,
        };
        self.carry_out(&mut items)
    }

    fn answer(&self, positions: &RemotePositions<'_>) -> Result<bool> {
        let job = job::of_positions(positions.game, positions.agent, &positions.texts, positions.seed);
        let mut put = |number: usize, item: &[u8]| Ok(read(item).and_then(|answer| (positions.put)(number, answer)));
        let mut items = Items {
            job: &job,
            stage: format!("answers of {}", brief(&positions.agent.spec.to_string())),
            count: positions.texts.len(),
            group: 1,
            most: 2 * MOST_AT_ONCE,
            begins_iteration: false,
            put: &mut put,
            is_needed: &|_| true,
            effort: &mut |_| {},
            progress: &|_| {},
            stop: positions.stop,
        };
        self.carry_out(&mut items)
    }
}

/// A spec cut to a length that fits a line.
fn brief(spec: &str) -> String {
    const LONGEST: usize = 40;
    match spec.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &spec[..end]),
        None => spec.to_owned(),
    }
}

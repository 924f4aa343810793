//! The leader as a player of self-play, matches and grading, which its workers carry out.

use std::sync::atomic::Ordering;

use anyhow::Result;
use serde::de::DeserializeOwned;
use turnstone_agents::search::CacheStats;
use turnstone_agents::search::Stop;
use turnstone_arena::{Remote, RemotePositions, RemoteRound};
use turnstone_selfplay::{
    FinishedGame, Progress, SelfPlayError, SelfPlayGames, SelfPlayStats, SelfPlayer, Task, TrainableGame,
};

use crate::leader::{Items, Leader};
use crate::link::lock;
use crate::work::{of_games, of_positions, of_task};

/// Maximum number of games of self-play of a job: enough for the messages to cost nothing beside the games.
const MOST_GAMES: usize = 32;
/// Maximum number of games of a match, or of positions, of a job: as many as a thread plays side by side.
const MOST_AT_ONCE: usize = 24;

impl SelfPlayer for Leader {
    fn self_play(
        &self,
        game: &dyn TrainableGame,
        task: &Task,
        progress: &Progress,
        stop: &Stop,
    ) -> Result<Option<SelfPlayGames>, SelfPlayError> {
        let iteration = task.settings.iteration;
        let restore = game.restorer(task);
        let mut games: Vec<Option<FinishedGame>> = vec![None; task.settings.self_play.games_per_iteration];
        let mut stats = SelfPlayStats::default();
        let done = self.carry_out(&mut Items {
            work: &of_task(game, task)?,
            stage: format!("self-play of iteration {iteration}"),
            count: games.len(),
            group: 1,
            most: MOST_GAMES,
            put: &mut |number, item| Ok(restore(number, item).map(|game| games[number] = Some(game))),
            is_needed: &|_| true,
            progress: &mut |[positions, simulations, requests, hits, merged, batches], count| {
                let cache = CacheStats { requests, hits, merged, batches };
                stats.add(&SelfPlayStats { positions, simulations, cache, ..SelfPlayStats::default() });
                progress.games.store(count as u64, Ordering::Relaxed);
            },
            stop,
        })?;
        let games = games.into_iter().flatten().collect();
        Ok(done.then(|| SelfPlayGames::new(iteration, game.spec().features(), games, stats)))
    }

    fn scalars(&self) -> Vec<(String, f64)> {
        let status = lock(&self.key.status);
        let [done, again, failed] = status.jobs;
        let values = [
            ("workers", status.workers.len() as f64),
            ("items_per_second", status.workers.values().map(|worker| worker.rate).sum()),
            ("jobs", done as f64),
            ("redelivered", again as f64),
            ("failed", failed as f64),
        ];
        values.map(|(name, value)| (format!("cluster/{name}"), value)).to_vec()
    }
}

impl Remote for Leader {
    fn play(&self, round: &RemoteRound<'_>) -> Result<bool> {
        let agents = &round.header.agents;
        self.carry_out(&mut Items {
            work: &of_games(round.game, round.agents, round.header, round.plans)?,
            stage: match &agents[..] {
                [a, b] => format!("games of {} against {}", brief(a), brief(b)),
                _ => format!("games of {} agents", agents.len()),
            },
            count: round.plans.len(),
            group: 2,
            most: MOST_AT_ONCE,
            put: &mut |number, item| match read(item) {
                Ok(record) => match (round.check)(number, &record) {
                    Ok(()) => (round.put)(number, record).map(Ok),
                    fault => Ok(fault),
                },
                Err(fault) => Ok(Err(fault)),
            },
            is_needed: round.is_needed,
            progress: &mut |_, _| {},
            stop: round.stop,
        })
    }

    fn answer(&self, positions: &RemotePositions<'_>) -> Result<bool> {
        self.carry_out(&mut Items {
            work: &of_positions(positions.game, positions.agent, &positions.texts, positions.seed)?,
            stage: format!("answers of {}", brief(&positions.agent.spec.to_string())),
            count: positions.texts.len(),
            group: 1,
            most: MOST_AT_ONCE,
            put: &mut |number, item| Ok(read(item).and_then(|answer| (positions.put)(number, answer))),
            is_needed: &|_| true,
            progress: &mut |_, _| {},
            stop: positions.stop,
        })
    }
}

fn read<T: DeserializeOwned>(item: &[u8]) -> Result<T, String> {
    serde_json::from_slice(item).map_err(|error| error.to_string())
}

/// A spec cut to a length that fits a line.
fn brief(spec: &str) -> String {
    match spec.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &spec[..end]),
        None => spec.to_owned(),
    }
}

//! The leader as a player of self-play, matches and grading, which its workers carry out.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use serde::de::DeserializeOwned;
use turnstone_agents::search::CacheStats;
use turnstone_arena::{Remote, RemotePositions, RemoteRound};
use turnstone_selfplay::{
    FinishedGame, Progress, SelfPlayError, SelfPlayGames, SelfPlayStats, SelfPlayer, Task, TrainableGame,
};

use crate::leader::{Items, Leader};
use crate::link::lock;
use crate::work;

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
        stop: &AtomicBool,
    ) -> Result<Option<SelfPlayGames>, SelfPlayError> {
        // Other processors may choose another arithmetic.
        let mut task = task.clone();
        let self_play = &mut task.settings.self_play;
        self_play.precision = self_play.precision.resolved();
        let count = self_play.games_per_iteration;
        let work = work::of_task(game, &task);
        let restore = game.restorer(&task);
        let mut games: Vec<Option<FinishedGame>> = vec![None; count];
        let mut stats = SelfPlayStats::default();
        let mut put = |number: usize, item: &[u8]| Ok(restore(number, item).map(|game| games[number] = Some(game)));
        let mut items = Items {
            work: &work,
            stage: format!("self-play of iteration {}", task.settings.iteration),
            count,
            group: 1,
            most: MOST_GAMES,
            put: &mut put,
            is_needed: &|_| true,
            effort: &mut |effort| add_effort(&mut stats, *effort),
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
        let status = lock(&self.shared.status);
        let rates = status.workers.values().map(|worker| worker.rate);
        let values = [
            ("cluster/workers", rates.clone().filter(|rate| *rate > 0.0).count() as f64),
            ("cluster/items_per_second", rates.sum()),
            ("cluster/positions", status.positions as f64),
            ("cluster/jobs", status.jobs[0] as f64),
            ("cluster/redelivered", status.jobs[1] as f64),
            ("cluster/failed", status.jobs[2] as f64),
        ];
        values.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }
}

fn add_effort(stats: &mut SelfPlayStats, effort: [u64; 6]) {
    let [positions, simulations, requests, hits, merged, batches] = effort;
    let cache = CacheStats { requests, hits, merged, batches };
    stats.add(&SelfPlayStats { positions, simulations, cache, ..SelfPlayStats::default() });
}

fn read<T: DeserializeOwned>(item: &[u8]) -> Result<T, String> {
    serde_json::from_slice(item).map_err(|error| error.to_string())
}

impl Remote for Leader {
    fn play(&self, round: &RemoteRound<'_>) -> Result<bool> {
        let work = work::of_games(round.game, round.agents, round.header, round.plans);
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
            work: &work,
            stage,
            count: round.plans.len(),
            group: 2,
            most: MOST_AT_ONCE,
            put: &mut put,
            is_needed: round.is_needed,
            effort: &mut |_| {},
            progress: &|_| {},
            stop: round.stop,
        };
        self.carry_out(&mut items)
    }

    fn answer(&self, positions: &RemotePositions<'_>) -> Result<bool> {
        let work = work::of_positions(positions.game, positions.agent, &positions.texts, positions.seed);
        let mut put = |number: usize, item: &[u8]| Ok(read(item).and_then(|answer| (positions.put)(number, answer)));
        let mut items = Items {
            work: &work,
            stage: format!("answers of {}", brief(&positions.agent.spec.to_string())),
            count: positions.texts.len(),
            group: 1,
            most: 2 * MOST_AT_ONCE,
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

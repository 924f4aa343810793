//! The leader as a player of self-play, matches and grading, which its workers carry out.

use std::sync::atomic::Ordering;

use anyhow::Result;
use serde::de::DeserializeOwned;
use turnstone_agents::search::Stop;
use turnstone_arena::{Remote, RemotePositions, RemoteRound};
use turnstone_selfplay::{
    FinishedGame, SelfPlayCounters, SelfPlayError, SelfPlayGames, SelfPlayStats, SelfPlayer, Task, TrainableGame,
};

use crate::leader::{Items, Leader};
use crate::work::{Kind, of_agents, of_task};

impl SelfPlayer for Leader {
    fn self_play(
        &self,
        game: &dyn TrainableGame,
        task: &Task,
        progress: &SelfPlayCounters,
        stop: &Stop,
    ) -> Result<Option<SelfPlayGames>, SelfPlayError> {
        let iteration = task.settings.iteration;
        let restore = game.transcript_decoder(task);
        let mut games: Vec<Option<FinishedGame>> = vec![None; task.settings.self_play.games_per_iteration];
        let done = self.carry_out(&mut Items {
            work: &of_task(game, task)?,
            stage: format!("self-play of iteration {iteration}"),
            count: games.len(),
            put: &mut |number, item| {
                Ok(restore(number, item).map(|game| {
                    games[number] = Some(game);
                    progress.games.fetch_add(1, Ordering::Relaxed);
                }))
            },
            is_needed: &|_| true,
            stop,
        })?;
        let games = games.into_iter().flatten().collect();
        Ok(done.then(|| SelfPlayGames::new(iteration, game.spec().features(), games, SelfPlayStats::default())))
    }
}

impl Remote for Leader {
    fn play(&self, round: &RemoteRound<'_>) -> Result<bool> {
        self.carry_out(&mut Items {
            work: &of_agents(
                Kind::Games { tournament: Box::new(round.header.clone()), plans: round.plans.to_vec() },
                round.agents,
            )?,
            stage: format!("games of {} agents", round.agents.len()),
            count: round.plans.len(),
            put: &mut |number, item| match read(item) {
                Ok(record) => (round.put)(number, record),
                Err(fault) => Ok(Err(fault)),
            },
            is_needed: round.is_needed,
            stop: round.stop,
        })
    }

    fn answer(&self, positions: &RemotePositions<'_>) -> Result<bool> {
        let texts = positions.texts.iter().map(|&text| text.to_owned()).collect();
        self.carry_out(&mut Items {
            work: &of_agents(Kind::Positions { texts, seed: positions.seed }, &[positions.agent])?,
            stage: "answers to positions".to_owned(),
            count: positions.texts.len(),
            put: &mut |number, item| Ok(read(item).and_then(|answer| (positions.put)(number, answer))),
            is_needed: &|_| true,
            stop: positions.stop,
        })
    }
}

fn read<T: DeserializeOwned>(item: &[u8]) -> Result<T, String> {
    serde_json::from_slice(item).map_err(|error| error.to_string())
}

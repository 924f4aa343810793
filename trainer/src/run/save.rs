//! Files written at the end of an iteration: checkpoints, metrics, the state and TensorBoard events.

use std::time::Instant;

use anyhow::Result;
use turnstone_models::CheckpointInfo;

use super::{Run, Setup};
use crate::metrics::{Metrics, opponent_tag};
use crate::run_folder::RunState;
use turnstone_agents::checkpoint_info;
use turnstone_arena::MatchResult;

impl Run<'_> {
    /// Metadata of a checkpoint of this run after `step` training steps; its entry `config` is
    /// [`Config::result_checksum`](crate::config::Config::result_checksum).
    pub(super) fn checkpoint_info(&self, step: u64) -> CheckpointInfo {
        let Setup { program, game, config, .. } = self.setup;
        let mut info = checkpoint_info(game, &config.net, &config.search.at_play(), step);
        info.created_by = program.to_owned();
        info.extra.insert("config".to_owned(), config.result_checksum());
        info
    }

    /// Writes the iteration to disk: checkpoints, metrics, and then the state, with which the iteration is complete; at last the
    /// events, among them a game of each match.
    pub(super) fn save(&mut self, metrics: &Metrics, steps_before: u64, matches: &[MatchResult]) -> Result<()> {
        let start = Instant::now();
        let Setup { config, folder, .. } = self.setup;
        let (iteration, step) = (metrics.iteration, metrics.step);
        folder.check_lock()?;
        let info = self.checkpoint_info(step);
        let weights = self.learner.averaged();
        turnstone_models::save(&folder.latest(), &info, weights)?;
        let every = config.run.checkpoint_steps;
        if self.is_last(iteration) || step / every > steps_before / every {
            folder.save_numbered(&info, weights)?;
        }
        let window_from = self.window.oldest().unwrap_or(1);
        let mut state = RunState { iteration, window_from, ..self.state.clone() };
        let best = metrics.mean_score().filter(|&score| state.best_score.is_none_or(|best| score >= best));
        if let Some(score) = best {
            (state.best_score, state.best_step) = (Some(score), Some(step));
        }
        folder.append_metrics(metrics)?;
        folder.save_state(self.learner.state(), &state)?;
        self.state = state;
        if best.is_some() {
            // After the state: if this iteration is discarded, the previous best checkpoint must still exist.
            turnstone_models::save(&folder.best(), &info, self.learner.averaged())?;
        }
        folder.remove_shards_before(window_from)?;
        folder.thin_checkpoints(step, &config.run)?;
        metrics.report(&mut self.events);
        for MatchResult { record, .. } in matches {
            self.events.text(&opponent_tag("game", &record.header.agents[1]), &record.sample(), step);
        }
        self.events.flush();
        self.clock.stages.file_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }
}

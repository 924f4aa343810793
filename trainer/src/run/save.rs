//! Files written at the end of an iteration: TensorBoard events, checkpoints, metrics and the state.

use anyhow::Result;
use turnstone_models::CheckpointInfo;

use super::Run;
use super::setup::Setup;
use crate::metrics::{Metrics, opponent_tag};
use crate::run_folder::Standing;
use turnstone_agents::checkpoint_info;
use turnstone_arena::MatchResult;

impl Run<'_> {
    /// Writes TensorBoard events: metrics, and one game of each match.
    pub(super) fn log(&mut self, metrics: &Metrics, matches: &[MatchResult]) {
        metrics.report(&mut self.events);
        for MatchResult { record, .. } in matches {
            self.events.text(&opponent_tag("game", &record.header.agents[1]), &record.sample(), metrics.step);
        }
        self.events.flush();
    }

    /// Metadata of a checkpoint of this run after `step` training steps; its entry `config` is
    /// [`Config::result_checksum`](crate::config::Config::result_checksum).
    pub(super) fn checkpoint_info(&self, step: u64) -> CheckpointInfo {
        let Setup { program, game, config, .. } = self.setup;
        let mut info = checkpoint_info(game, &config.net, &config.search.at_play(), step);
        info.created_by = program.to_owned();
        info.extra.insert("config".to_owned(), config.result_checksum());
        info
    }

    /// Writes the iteration to disk: checkpoints, metrics, and then the state, with which the iteration is complete.
    pub(super) fn save(&mut self, metrics: &Metrics, steps_before: u64) -> Result<()> {
        let Setup { config, folder, .. } = self.setup;
        let (iteration, step) = (metrics.iteration, metrics.step);
        folder.confirm()?;
        let info = self.checkpoint_info(step);
        let weights = self.learner.averaged();
        turnstone_models::save(&folder.latest(), &info, weights)?;
        let every = config.run.checkpoint_steps;
        if self.is_last(iteration) || step / every > steps_before / every {
            folder.save_numbered(&info, weights)?;
        }
        let window_from = self.window.oldest().unwrap_or(1);
        let mut standing = Standing { iteration, window_from, ..self.standing.clone() };
        let best = metrics.mean_score().filter(|&score| standing.best_score.is_none_or(|best| score >= best));
        if let Some(score) = best {
            (standing.best_score, standing.best_step) = (Some(score), Some(step));
        }
        folder.append_metrics(metrics)?;
        folder.save_state(self.learner.state(), &standing)?;
        self.standing = standing;
        if best.is_some() {
            // After the state: if this iteration is discarded, the previous best checkpoint must still exist.
            turnstone_models::save(&folder.best(), &info, self.learner.averaged())?;
        }
        folder.remove_shards_before(window_from)?;
        folder.thin_checkpoints(step, &config.run)
    }
}

//! What a resumed run restores and reports: its checkpoints, and what has changed since it was last trained.

use anyhow::Result;

use super::Run;
use super::setup::Setup;
use crate::config::Config;
use turnstone_agents::load_network;
use turnstone_models::ComputeDevice;

/// The devices of self-play and learning; empty if both are the processor.
fn devices(config: &Config) -> String {
    let [play, learn] = [config.self_play.device, config.learn.device];
    if [play, learn] == [ComputeDevice::Cpu; 2] { String::new() } else { format!("{play} and {learn}") }
}

impl Run<'_> {
    /// Thins the numbered checkpoints, and rewrites `latest` and `best` if they are missing, damaged or not those of
    /// the state.
    pub(super) fn restore_checkpoints(&mut self) -> Result<()> {
        let Setup { game, config, folder, reporter, .. } = self.setup;
        let step = self.learner.steps();
        folder.thin_checkpoints(step, &config.run)?;
        if self.standing.iteration == 0 {
            return Ok(());
        }
        let latest = load_network(&folder.latest(), game);
        if let Err(fault) = &latest {
            reporter.warning(&format!("{fault}; written anew from the run's state"));
        }
        if !latest.is_ok_and(|network| network.info.step == step) {
            let info = self.checkpoint_info(step);
            turnstone_models::save(&folder.latest(), &info, self.learner.averaged())?;
        }
        self.restore_best()
    }

    /// Records program and config in the folder, and reports if the run was last trained with others.
    pub(super) fn record_provenance(&self) -> Result<()> {
        let Setup { program, folder, reporter, .. } = self.setup;
        let (devices, from) = (devices(self.setup.config), &self.setup.config.run.from);
        let trained = folder.trained_config();
        let (last, now, damaged) = folder.record_provenance(program, self.standing.iteration, &devices, from)?;
        damaged.iter().for_each(|fault| reporter.warning(&format!("{fault}; left out")));
        let Some(last) = last else { return Ok(()) };
        if last.program != now.program {
            reporter.line(&format!("the run was last trained by {}; this is {}", last.program, now.program));
        }
        if last.config != now.config {
            let (config, next) = (folder.config(), self.standing.iteration + 1);
            let changes = trained.map(|trained| self.setup.config.changes_from(&trained)).unwrap_or_default();
            let changes = if changes.is_empty() { "changed".to_owned() } else { changes.join(", ") };
            reporter.line(&format!("{}: {changes}; the run goes on with it at iteration {next}", config.display()));
        }
        if last.devices != now.devices {
            let named = |devices: &str| if devices.is_empty() { "cpu and cpu".to_owned() } else { devices.to_owned() };
            reporter.line(&format!(
                "self-play and learning were last on {} and continue on {}: from here on the result may differ",
                named(&last.devices),
                named(&now.devices)
            ));
        }
        Ok(())
    }

    /// Restores the best checkpoint. It is written after the state that refers to it, so it may be missing.
    fn restore_best(&mut self) -> Result<()> {
        let Setup { game, folder, reporter, .. } = self.setup;
        if self.standing.best_score.is_none() {
            return Ok(());
        }
        let best = load_network(&folder.best(), game);
        let step = self.standing.best_step.unwrap_or(0);
        if best.as_ref().is_ok_and(|best| best.info.step == step) {
            return Ok(());
        }
        if step == self.learner.steps() {
            if let Err(fault) = best.as_ref()
                && folder.best().exists()
            {
                reporter.warning(&format!("{fault}; written anew from the run's state"));
            }
            let info = self.checkpoint_info(step);
            return Ok(turnstone_models::save(&folder.best(), &info, self.learner.averaged())?);
        }
        let fault = match best {
            Err(fault) => fault.to_string(),
            Ok(best) => format!("{}: it is from step {}, not {step}", folder.best().display(), best.info.step),
        };
        reporter.warning(&format!("{fault}; the next match makes a new best checkpoint"));
        (self.standing.best_score, self.standing.best_step) = (None, None);
        Ok(())
    }
}

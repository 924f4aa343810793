//! What a resumed run continues with: its learner, its replay window and the games that were played ahead.

use std::fmt::Display;

use anyhow::{Result, ensure};

use super::setup::Setup;
use crate::learn::steps_due;
use crate::run_folder::Standing;
use turnstone_agents::shape;
use turnstone_models::{Learner, LearnerState};
use turnstone_selfplay::replay::{Shard, Window};

/// The learner and the run's standing as of the last finished iteration.
pub(super) fn learner_and_standing(setup: &Setup<'_>) -> Result<(Learner, Standing)> {
    let (state, standing) = setup.folder.load_state().map_err(|error| {
        anyhow::anyhow!(
            "{error:#}; without its state the run cannot continue (checkpoints still play; --overwrite starts anew)"
        )
    })?;
    Ok((restored(setup, state, &standing)?, standing))
}

/// Continues with a state of the run, which may be another run's or forged.
fn restored(setup: &Setup<'_>, state: LearnerState, standing: &Standing) -> Result<Learner> {
    let Setup { game, config, folder, .. } = *setup;
    let path = folder.state();
    let shown = path.display();
    ensure!(
        state.network == config.net && config.net.fits(&state.shape, &shape(game.spec())),
        "{shown}: its network or game differs from that of {}",
        folder.config().display()
    );
    // A changed `samples_per_position` may leave many steps due, a forged number of positions any number.
    let (due, done) = (steps_due(&config.learn, standing.positions), state.steps);
    ensure!(
        due <= done.saturating_mul(20).saturating_add(1_000_000),
        "{shown}: {done} steps of the learner are too few for {} positions: {due} would be due",
        standing.positions
    );
    let learner = Learner::from_state(state, &config.learn.optimiser())?;
    ensure!(
        setup.has_finite_outputs(&learner),
        "{shown}: the outputs of the network in it are not finite; restore it from a copy, or give --overwrite to start \
         a new run"
    );
    Ok(learner)
}

/// The replay window.
///
/// # Errors
/// A shard is missing or damaged: without it the result would differ from that of the uninterrupted run.
pub(super) fn window(setup: &Setup<'_>, standing: &Standing) -> Result<Window> {
    let (window, faults) = setup.folder.load_window(standing, setup.game);
    match faults.first() {
        None => Ok(window),
        Some((_, fault)) => Err(irreplaceable(fault)),
    }
}

/// The games that were played ahead, if any were.
///
/// # Errors
/// Those of [`window`].
pub(super) fn ahead(setup: &Setup<'_>, standing: &Standing) -> Result<Option<Shard>> {
    let Some(counts) = standing.ahead else { return Ok(None) };
    let iteration = standing.iteration + 1;
    let shard = setup.folder.load_shard(iteration, setup.game).map_err(|fault| irreplaceable(&fault))?;
    let (found, expected) = (shard.len() as u64, counts.positions);
    if found != expected {
        return Err(irreplaceable(&format!(
            "the shard of iteration {iteration} has {found} positions, not {expected}"
        )));
    }
    Ok(Some(shard))
}

/// The fault of a shard whose games cannot be played again.
fn irreplaceable(fault: &dyn Display) -> anyhow::Error {
    anyhow::anyhow!("{fault}; restore it from a copy, or begin another run with --from latest.safetensors")
}

/// Removes what the folder has of iterations that were not finished, and of those that have left the window.
pub(super) fn tidy(setup: &Setup<'_>, standing: &Standing) -> Result<()> {
    let Setup { folder, reporter, .. } = setup;
    folder.create_dirs()?;
    folder.remove_shards_after(standing.played())?;
    folder.remove_shards_before(standing.window_from)?;
    let metrics = folder.cut_metrics(standing.iteration)?;
    metrics.damaged.iter().for_each(|fault| reporter.warning(&format!("{fault}; left out")));
    let missing = standing.iteration.saturating_sub(metrics.lines + metrics.damaged.len() as u64);
    if missing > 0 {
        reporter.warning(&format!("{}: {missing} lines are missing", folder.metrics().display()));
    }
    Ok(())
}

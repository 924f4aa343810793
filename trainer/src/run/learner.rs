//! The learner of a new and of a resumed run, and whether its network can play.

use anyhow::{Context, Result, ensure};

use super::beginning::Beginning;
use super::setup::Setup;
use crate::learn::steps_due;
use crate::run_folder::Standing;
use turnstone_agents::{LoadedNetwork, checkpoint_info, shape};
use turnstone_models::{Learner, LearnerState};

/// Starts with random weights, or with those of the network that `run.from` names, which is in the folder.
pub(super) fn initial(setup: &Setup<'_>) -> Result<Learner> {
    let Setup { game, config, folder, .. } = *setup;
    let (optimiser, shape) = (config.learn.optimiser(), shape(game.spec()));
    if config.run.from.is_empty() {
        return Ok(Learner::new(shape, &config.net, &optimiser, config.seed)?);
    }
    let path = folder.beginning();
    let beginning = Beginning::read(&path)
        .context("the network that run.from names is missing: give it to a new run with --from CHECKPOINT")?;
    let (found, expected) = (beginning.checksum(), &config.run.from);
    ensure!(found == *expected, "{}: its CRC-32 is {found}, not {expected} as run.from says", path.display());
    let weights = beginning.weights(game, config)?;
    Ok(Learner::from_state(LearnerState::new(shape, config.net.clone(), weights), &optimiser)?)
}

/// Continues with a state of the run, which may be another run's or forged.
pub(super) fn restored(setup: &Setup<'_>, state: LearnerState, standing: &Standing) -> Result<Learner> {
    let Setup { game, config, folder, .. } = *setup;
    let path = folder.state();
    let shown = path.display();
    ensure!(
        state.network == config.net && config.net.fits(&state.shape, &shape(game.spec())),
        "{shown}: it is of another network or game than {}",
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
        has_finite_outputs(setup, &learner),
        "{shown}: the outputs of the network in it are not finite; restore it from a copy, or give --overwrite to start \
         a new run"
    );
    Ok(learner)
}

/// Whether the network that plays has finite outputs along a game.
pub(super) fn has_finite_outputs(setup: &Setup<'_>, learner: &Learner) -> bool {
    let Setup { game, config, .. } = *setup;
    let info = checkpoint_info(game, &config.net, &config.search.settings(), learner.steps());
    LoadedNetwork::new(info, learner.averaged().clone()).is_finite(game)
}

//! How a run starts: new, with random weights or those of another run's network; resumed, perhaps with a changed config; or as
//! a fork of another run.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use turnstone_agents::{Agent, AgentSpec, LoadedNetwork, checkpoint_file, checkpoint_info, load_network, shape};
use turnstone_arena::grading::known;
use turnstone_arena::{Ladder, Match, RatingScale};
use turnstone_base::checksum::crc32_text;
use turnstone_base::files::read_bounded;
use turnstone_env::DynGame;
use turnstone_models::{ComputeDevice, Learner, LearnerState, Weights};
use turnstone_search::Stop;
use turnstone_selfplay::replay::{Shard, Window};
use turnstone_selfplay::{Games, TrainableGame};

use super::wall_clock::WallClock;
use super::{Run, Setup};
use crate::config::{Config, Override};
use crate::learn::steps_due;
use crate::run_folder::{Provenance, RunFolder, RunState};
use crate::tensorboard::EventLog;

/// Checks, before a run begins or continues, what it needs: that its devices can be used, that every opponent of its
/// matches can be loaded and openings can be drawn, and that the game comes with a ladder if the config uses one. Other
/// programs are not started.
///
/// # Errors
/// One line that names the key and the fault.
pub fn check_requirements(game: &dyn TrainableGame, config: &Config) -> Result<()> {
    config.self_play.device.check().context("self_play.device")?;
    config.learn.device.check().context("learn.device")?;
    for opponent in &config.arena.opponents {
        Agent::load(opponent, game).context("arena.opponents")?;
    }
    if !config.arena.opponents.is_empty() {
        let (random, options) = (Agent::load(&AgentSpec::random(), game)?, config.arena.match_options(2, config.seed));
        Match::new(game, vec![&random; 2], &options, RatingScale::Mean, &Stop::default())
            .context("arena.opening_plies")?;
    }
    if config.arena.ladder_games > 0 {
        Ladder::shipped(game).context("arena.ladder_games")?;
    }
    Ok(())
}

/// Starts and ends the programs that are opponents of a new run, so that a wrong command line is found before it begins.
///
/// # Errors
/// One line that names the program and the fault.
pub fn check_programs(game: &dyn TrainableGame, config: &Config) -> Result<()> {
    for engine in config.arena.engines() {
        let agent = Agent::load(engine, game).context("arena.opponents")?;
        agent.search(game, 1).map(drop).with_context(|| format!("arena.opponents: {engine}"))?;
    }
    Ok(())
}

/// Opens and locks the folder of a run to continue it, with some values of its config replaced. Nothing is written if one may
/// not change.
///
/// # Errors
/// The folder contains no run, another process is training in it, or the run cannot continue with this config.
pub fn reopen(path: &Path, changes: &[Override], games: &Games) -> Result<(Config, RunFolder)> {
    let folder = RunFolder::open_to_train(path)?;
    let (config, text) = config_to_continue(&folder, changes, games)?;
    if let Some(text) = text {
        folder.replace_config(&text)?;
    }
    Ok((config, folder))
}

/// Copies a run, with its state, replay window, checkpoints and metrics, to a new folder, where it continues on its own, with
/// some values of its config replaced. The provenance of the copy names the run and its state.
///
/// # Errors
/// The errors of [`reopen`] and [`RunFolder::create`], or the run has not been trained yet.
pub fn fork(
    of: &Path,
    path: &Path,
    changes: &[Override],
    overwrite: bool,
    games: &Games,
) -> Result<(Config, RunFolder)> {
    let run = RunFolder::open_to_train(of)?;
    let (of, path_of_copy) = (fs::canonicalize(of)?, std::path::absolute(path)?);
    let is_inside = path_of_copy.ancestors().any(|folder| fs::canonicalize(folder).is_ok_and(|folder| folder == of));
    ensure!(!is_inside, "run folder {} is inside that of the run to fork", path.display());
    let (config, text) = config_to_continue(&run, changes, games)?;
    let text = match text {
        Some(text) => text,
        None => fs::read_to_string(run.config()).with_context(|| run.config().display().to_string())?,
    };
    Ok((config, RunFolder::create(path, &text, overwrite, |fork| run.copy_to(fork))?))
}

/// The config of a run that continues, and its text if that changes.
fn config_to_continue(folder: &RunFolder, changes: &[Override], games: &Games) -> Result<(Config, Option<String>)> {
    let config = folder.config_to_continue(games)?;
    let changed = config.continued_with(changes, folder.finished(), games).map_err(anyhow::Error::msg);
    let changed = changed.context("--set")?;
    if changed == config {
        return Ok((config, None));
    }
    check_requirements(&*changed.game(games).map_err(anyhow::Error::msg)?, &changed)?;
    let text = changed.text(games)?;
    Ok((changed, Some(text)))
}

/// Longest checkpoint that a run begins with, in bytes: more than four bytes for each parameter that a network may have.
const LONGEST_CHECKPOINT: u64 = 1 << 29;

/// A checkpoint that a run begins with, as the bytes of its file.
#[derive(Debug)]
pub struct InitialCheckpoint {
    path: PathBuf,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

impl InitialCheckpoint {
    /// Reads a checkpoint: a file, or `latest.safetensors` of a run folder.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(checkpoint: &Path) -> Result<Self> {
        let path = checkpoint_file(checkpoint);
        let bytes = read_bounded(&path, LONGEST_CHECKPOINT).with_context(|| path.display().to_string())?;
        Ok(Self { path, bytes })
    }

    /// CRC-32 of the file, as eight hexadecimal digits: what `run.from` is.
    #[must_use]
    pub fn checksum(&self) -> String {
        crc32_text(&self.bytes)
    }

    /// The weights, for the network of a config, which is that of the checkpoint. The game may have other parameters if the
    /// network fits its shape.
    ///
    /// # Errors
    /// One line that names the file and the fault: it is no checkpoint, or one of another game, network or board.
    pub fn weights(&self, game: &dyn DynGame, config: &Config) -> Result<Weights> {
        let shown = self.path.display();
        let loaded = LoadedNetwork::from_bytes(&self.bytes, &self.path)?;
        let (info, shape) = (&loaded.info, shape(game.spec()));
        let (name, version) = (game.name(), game.version());
        ensure!(info.game == name, "{shown}: it is for the game {}, and the run is for {name}", info.game);
        ensure!(
            info.game_version == version,
            "{shown}: it is for version {} of {name}, and the run is for version {version}",
            info.game_version
        );
        ensure!(
            info.network == config.net,
            "{shown}: its network is a {}, the one of the config a {}",
            info.network,
            config.net
        );
        ensure!(config.net.fits(&info.shape, &shape), "{shown}: it is for another board");
        let info = checkpoint_info(game, &config.net, &config.search.at_play(), info.step);
        let network = LoadedNetwork::new(info, loaded.weights);
        ensure!(network.is_finite(game), "{shown}: the outputs of its network are not finite");
        Ok(network.weights)
    }
}

impl<'a> Run<'a> {
    /// Starts the run of a folder, or restores it as of the end of its last finished iteration.
    ///
    /// # Errors
    /// What the run needs is missing, a file of it is missing, damaged or of another game, or the folder cannot be written.
    pub fn begin(setup: Setup<'a>) -> Result<Self> {
        let Setup { game, config, folder, .. } = setup;
        check_requirements(game, config)?;
        let (mut learner, state) = if folder.is_unstarted() { started(&setup)? } else { restored(&setup)? };
        learner.use_threads(config.learn.threads());
        let (window, ahead) = (window(&setup, &state)?, ahead(&setup, &state)?);
        tidy(&setup, &state)?;
        let truth = if config.arena.grade { known(game)? } else { None };
        let (events, clock) = (EventLog::open(&folder.tensorboard()), WallClock::start());
        let mut run = Self { setup, learner, window, state, ahead, truth, events, clock };
        run.restore_checkpoints()?;
        Ok(run)
    }

    /// Thins the numbered checkpoints, and rewrites `latest` and `best` if they are missing, damaged or not those of
    /// the state.
    fn restore_checkpoints(&mut self) -> Result<()> {
        let Setup { game, config, folder, reporter, .. } = self.setup;
        let step = self.learner.steps();
        folder.thin_checkpoints(step, &config.run)?;
        if self.state.iteration == 0 {
            return Ok(());
        }
        let latest = load_network(&folder.latest(), game);
        if let Err(fault) = &latest {
            reporter.warning(&format!("{fault}; written anew from the run's state"));
        }
        if !latest.is_ok_and(|network| network.info.step == step) {
            turnstone_models::save(&folder.latest(), &self.checkpoint_info(step), self.learner.averaged())?;
        }
        self.restore_best()
    }

    /// Restores the best checkpoint. It is written after the state that refers to it, so it may be missing.
    fn restore_best(&mut self) -> Result<()> {
        let Setup { game, folder, reporter, .. } = self.setup;
        if self.state.best_score.is_none() {
            return Ok(());
        }
        let (path, step) = (folder.best(), self.state.best_step.unwrap_or(0));
        let best = load_network(&path, game);
        if best.as_ref().is_ok_and(|best| best.info.step == step) {
            return Ok(());
        }
        if step == self.learner.steps() {
            if let Err(fault) = best.as_ref()
                && path.exists()
            {
                reporter.warning(&format!("{fault}; written anew from the run's state"));
            }
            return Ok(turnstone_models::save(&path, &self.checkpoint_info(step), self.learner.averaged())?);
        }
        let fault = match best {
            Err(fault) => fault.to_string(),
            Ok(best) => format!("{}: it is from step {}, not {step}", path.display(), best.info.step),
        };
        reporter.warning(&format!("{fault}; the next match makes a new best checkpoint"));
        (self.state.best_score, self.state.best_step) = (None, None);
        Ok(())
    }

    /// Records program and config in the folder, and reports if the run was last trained with others.
    pub(super) fn record_provenance(&self) -> Result<()> {
        let Setup { program, config, folder, reporter, .. } = self.setup;
        let trained = folder.trained_config();
        let (iteration, program, from) = (self.state.iteration, program.to_owned(), config.run.from.clone());
        let now = Provenance { iteration, program, devices: devices(config), from, ..Provenance::default() };
        let (last, now, damaged) = folder.record_provenance(now)?;
        damaged.iter().for_each(|fault| reporter.warning(&format!("{fault}; left out")));
        let Some(last) = last else { return Ok(()) };
        if last.program != now.program {
            reporter.line(&format!("the run was last trained by {}; this is {}", last.program, now.program));
        }
        if last.config != now.config {
            let (path, next) = (folder.config(), iteration + 1);
            let changes = trained.map(|trained| config.changes_from(&trained)).unwrap_or_default();
            let changes = if changes.is_empty() { "changed".to_owned() } else { changes.join(", ") };
            reporter.line(&format!("{}: {changes}; the run goes on with it at iteration {next}", path.display()));
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
}

/// The devices of self-play and learning; empty if both are the processor.
fn devices(config: &Config) -> String {
    let [play, learn] = [config.self_play.device, config.learn.device];
    if [play, learn] == [ComputeDevice::Cpu; 2] { String::new() } else { format!("{play} and {learn}") }
}

/// Starts with random weights, or with those of the network that `run.from` names, which is in the folder.
fn started(setup: &Setup<'_>) -> Result<(Learner, RunState)> {
    let Setup { game, config, folder, .. } = *setup;
    let (optimiser, shape) = (config.learn.optimiser(), shape(game.spec()));
    let learner = if config.run.from.is_empty() {
        Learner::new(shape, &config.net, &optimiser, config.seed)?
    } else {
        let path = folder.initial();
        let initial = InitialCheckpoint::read(&path)
            .context("the network that run.from names is missing: give it to a new run with --from CHECKPOINT")?;
        let (found, expected) = (initial.checksum(), &config.run.from);
        ensure!(found == *expected, "{}: its CRC-32 is {found}, not {expected} as run.from says", path.display());
        let state = LearnerState::new(shape, config.net.clone(), initial.weights(game, config)?);
        Learner::from_state(state.with_heads(optimiser.heads(), config.seed)?, &optimiser)?
    };
    let state = RunState { window_from: 1, ..RunState::default() };
    folder.save_state(learner.state(), &state)?;
    Ok((learner, state))
}

/// Continues with the state in the folder, which may be another run's or forged.
fn restored(setup: &Setup<'_>) -> Result<(Learner, RunState)> {
    let Setup { game, config, folder, .. } = *setup;
    let (learned, state) = folder.load_state().map_err(|error| {
        anyhow!(
            "{error:#}; without its state the run cannot continue (checkpoints still play; --overwrite starts anew)"
        )
    })?;
    let path = folder.state();
    let shown = path.display();
    ensure!(
        learned.network == config.net && config.net.fits(&learned.shape, &shape(game.spec())),
        "{shown}: its network or game differs from that of {}",
        folder.config().display()
    );
    // A changed `samples_per_position` may leave many steps due, a forged number of positions any number.
    let (due, done) = (steps_due(&config.learn, state.positions), learned.steps);
    ensure!(
        due <= done.saturating_mul(20).saturating_add(1_000_000),
        "{shown}: {done} steps of the learner are too few for {} positions: {due} would be due",
        state.positions
    );
    let learner = Learner::from_state(learned, &config.learn.optimiser())?;
    ensure!(
        setup.has_finite_outputs(&learner),
        "{shown}: the outputs of the network in it are not finite; restore it from a copy, or give --overwrite to start \
         a new run"
    );
    Ok((learner, state))
}

/// The replay window.
///
/// # Errors
/// A shard is missing or damaged: without it the result would differ from that of the uninterrupted run.
fn window(setup: &Setup<'_>, state: &RunState) -> Result<Window> {
    let (window, faults) = setup.folder.load_window(state, setup.game);
    faults.first().map_or(Ok(window), |(_, fault)| Err(irreplaceable(fault)))
}

/// The games that were played ahead, if any were.
///
/// # Errors
/// The errors of [`window`].
fn ahead(setup: &Setup<'_>, state: &RunState) -> Result<Option<Shard>> {
    let Some(counts) = state.ahead else { return Ok(None) };
    let iteration = state.iteration + 1;
    let shard = setup.folder.load_shard(iteration, setup.game).map_err(|fault| irreplaceable(&fault))?;
    let (found, expected) = (shard.len() as u64, counts.positions);
    if found != expected {
        let fault = format!("the shard of iteration {iteration} has {found} positions, not {expected}");
        return Err(irreplaceable(&fault));
    }
    Ok(Some(shard))
}

/// The fault of a shard whose games cannot be played again.
fn irreplaceable(fault: &dyn Display) -> anyhow::Error {
    anyhow!("{fault}; restore it from a copy, or begin another run with --from latest.safetensors")
}

/// Removes what the folder has of iterations that were not finished, and of those that have left the window.
fn tidy(setup: &Setup<'_>, state: &RunState) -> Result<()> {
    let Setup { folder, reporter, .. } = setup;
    folder.create_dirs()?;
    folder.remove_shards_after(state.played())?;
    folder.remove_shards_before(state.window_from)?;
    let metrics = folder.cut_metrics(state.iteration)?;
    metrics.damaged.iter().for_each(|fault| reporter.warning(&format!("{fault}; left out")));
    let missing = state.iteration.saturating_sub(metrics.lines + metrics.damaged.len() as u64);
    if missing > 0 {
        reporter.warning(&format!("{}: {missing} lines are missing", folder.metrics().display()));
    }
    Ok(())
}

//! The training run: iterations of self-play, learning, matches and writing files.

mod setup;
mod restore;
mod wall_clock;
mod self_play;
mod evaluation;
mod save;

pub use setup::{Setup, confirm_matches};

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use turnstone_env::Spec;
use turnstone_models::{Integrity, LearnError, Learner, StepReport};

use self::setup::truth;
use self::wall_clock::WallClock;
use crate::learn::{BatchMaker, learning_rate, steps_due};
use crate::metrics::{ArenaMetrics, Metrics, Timing};
use crate::run_folder::Standing;
use crate::tensorboard::EventLog;
use turnstone_agents::shape;
use turnstone_agents::streams::{Purpose, stream};
use turnstone_arena::grading::TruthSet;
use turnstone_selfplay::TrainableGame;
use turnstone_selfplay::replay::{GameId, Window, window_size};
use turnstone_selfplay::{SelfPlayGames, outcome_shares};

/// How [`Run::train`] ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// All iterations are done.
    Finished,
    /// The run was stopped, or its time was up.
    Stopped {
        /// Iterations finished.
        iteration: u64,
    },
}

/// What to do about damaged shards of the replay window when a run is resumed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DamagedShards {
    /// Refuse to resume, because the result would differ from that of the uninterrupted run.
    Refuse,
    /// Continue without them.
    LeaveOut,
}

/// A run between two iterations.
pub struct Run<'a> {
    setup: Setup<'a>,
    spec: Spec,
    learner: Learner,
    window: Window,
    standing: Standing,
    events: EventLog,
    clock: WallClock,
    /// Positions with exact values, if checkpoints are graded.
    truth: Option<TruthSet>,
}

impl<'a> Run<'a> {
    /// Starts a new run in an empty folder and writes its initial state.
    ///
    /// # Errors
    /// The network cannot be built, the game's ladder is needed and missing, or the folder cannot be written.
    pub fn start(setup: Setup<'a>) -> Result<Self> {
        let Setup { game, config, folder, .. } = setup;
        let spec = game.spec();
        confirm_matches(game, config)?;
        let truth = truth(game, config)?;
        folder.create_dirs()?;
        let mut learner = Learner::new(shape(spec), &config.net, &config.learn.optimiser(), config.seed)?;
        learner.use_threads(config.learn.threads());
        let standing = Standing { window_from: 1, ..Standing::default() };
        folder.save_state(learner.state(), &standing)?;
        let events = EventLog::open(&folder.tensorboard());
        let (spec, window, clock) = (spec.clone(), Window::default(), WallClock::start());
        Ok(Self { setup, spec, learner, window, standing, events, clock, truth })
    }

    /// Restores a run as of the end of its last finished iteration.
    ///
    /// # Errors
    /// A file of the run is missing, damaged or of another game.
    pub fn resume(setup: Setup<'a>, damaged: DamagedShards) -> Result<Self> {
        let Setup { game, config, folder, reporter, .. } = setup;
        if folder.is_unstarted() {
            return Self::start(setup);
        }
        let spec = game.spec();
        confirm_matches(game, config)?;
        let (state, mut standing, integrity) = folder.load_state().map_err(|error| {
            anyhow!(
                "{error:#}; without its state the run cannot go on (checkpoints still play; --overwrite starts anew)"
            )
        })?;
        anyhow::ensure!(
            state.network == config.net && config.net.fits(&state.shape, &shape(spec)),
            "{}: it is of another network or game than the run's config",
            folder.state().display()
        );
        if integrity == Integrity::Unverified {
            let path = folder.state();
            reporter.line(&format!("{}: no checksum, since an earlier version wrote it", path.display()));
        }
        // A changed `samples_per_position` may leave many steps due, a forged number of positions any number.
        let (due, done) = (steps_due(&config.learn, standing.positions), state.steps);
        anyhow::ensure!(
            due <= done.saturating_mul(20).saturating_add(1_000_000),
            "{}: {done} steps of the learner are too few for {} positions: {due} would be due",
            folder.state().display(),
            standing.positions
        );
        let mut learner = Learner::from_state(state, &config.learn.optimiser())?;
        learner.use_threads(config.learn.threads());
        let (window, faults) = folder.load_window(&standing, &game_id(game), spec.features(), spec.actions);
        for (iteration, fault) in faults {
            if damaged == DamagedShards::Refuse {
                bail!("{fault}; restore it from a copy, or give --leave-out-damaged for another result without it");
            }
            reporter.warning(&format!("{fault}; left out, so from here on the run does not repeat"));
            standing.left_out.push(iteration);
        }
        folder.create_dirs()?;
        folder.remove_shards_after(standing.iteration)?;
        folder.remove_shards_before(standing.window_from)?;
        let metrics = folder.cut_metrics(standing.iteration)?;
        metrics.damaged.iter().for_each(|fault| reporter.warning(&format!("{fault}; left out")));
        let missing = standing.iteration.saturating_sub(metrics.lines + metrics.damaged.len() as u64);
        if missing > 0 {
            reporter.warning(&format!("{}: {missing} lines are missing", folder.metrics().display()));
        }
        let events = EventLog::open(&folder.tensorboard());
        let truth = truth(game, config)?;
        let clock = WallClock::start();
        let mut run = Self { setup, spec: spec.clone(), learner, window, standing, events, clock, truth };
        run.restore_checkpoints()?;
        Ok(run)
    }

    /// Runs iterations until all are done, `stop` is set, or `time` is up, which is checked between iterations.
    ///
    /// # Errors
    /// The loss is not finite or a file cannot be written. The last finished iteration remains on disk, and the error
    /// names it.
    pub fn train(self, time: Option<Duration>) -> Result<Ending> {
        self.train_watched(time, &mut |_| {})
    }

    /// [`Run::train`], which calls `watch` with the metrics of every finished iteration.
    ///
    /// # Errors
    /// Those of [`Run::train`].
    pub fn train_watched(mut self, time: Option<Duration>, watch: &mut dyn FnMut(&Metrics)) -> Result<Ending> {
        let first = self.standing.iteration;
        if first < self.setup.config.run.iterations {
            self.record_provenance().map_err(|error| self.ended(&error))?;
            self.setup.reporter.line(Metrics::LEGEND);
        }
        self.clock = WallClock::start();
        let ending = self.iterate_all(time, watch)?;
        if self.standing.iteration > first {
            self.setup.reporter.line(&format!("time: {}", self.clock.summary()));
        }
        Ok(ending)
    }

    fn iterate_all(&mut self, time: Option<Duration>, watch: &mut dyn FnMut(&Metrics)) -> Result<Ending> {
        let first = self.standing.iteration;
        while self.standing.iteration < self.setup.config.run.iterations {
            let stopped = Ending::Stopped { iteration: self.standing.iteration };
            if time.is_some_and(|time| self.clock.elapsed() >= time) {
                return Ok(stopped);
            }
            let Some(metrics) = self.iterate().map_err(|error| self.ended(&error))? else { return Ok(stopped) };
            let per_iteration = self.clock.elapsed() / (metrics.iteration - first) as u32;
            let left = per_iteration * (self.setup.config.run.iterations - metrics.iteration) as u32;
            self.setup.reporter.line(&metrics.line(self.setup.config.run.iterations, left));
            watch(&metrics);
        }
        Ok(Ending::Finished)
    }

    /// Adds to the error of a failed iteration the state of the run and advice.
    fn ended(&self, error: &anyhow::Error) -> anyhow::Error {
        let (folder, last) = (self.setup.folder, self.standing.iteration);
        if let Err(gone) = folder.confirm() {
            return anyhow!("{gone:#} (after iteration {last}); training has stopped and will not create it again");
        }
        let advice = if error.is::<LearnError>() {
            let config = folder.config();
            format!("resuming repeats this, so lower learn.learning_rate in {}", config.display())
        } else {
            "correct this".to_owned()
        };
        let shown = folder.path().display();
        anyhow!(
            "{error:#}; the run stands at iteration {last} as before: {advice}, then go on with: turnstone train --resume \
             {shown}"
        )
    }

    /// Runs one iteration. Returns `None` if it was interrupted, which discards it.
    fn iterate(&mut self) -> Result<Option<Metrics>> {
        let iteration = self.standing.iteration + 1;
        let steps_before = self.learner.steps();
        let Some(games) = self.self_play(iteration)? else { return Ok(None) };
        let (stats, ends) = (games.stats, games.ends.clone());
        self.collect(games)?;
        let start = Instant::now();
        let Some(steps) = self.learn(iteration)? else { return Ok(None) };
        self.clock.stages.learn += start.elapsed();
        let start = Instant::now();
        let Some(evaluation) = self.evaluate(iteration)? else { return Ok(None) };
        self.clock.stages.matches += start.elapsed();
        self.clock.stages.idle += evaluation.idle;
        let (times, whole) = self.clock.end_iteration();
        let metrics = Metrics {
            iteration,
            step: self.learner.steps(),
            games: self.standing.games,
            positions: self.standing.positions,
            window: self.window.len(),
            game_length: ends.iter().map(|&(_, plies)| f64::from(plies)).sum::<f64>() / ends.len() as f64,
            outcome_shares: outcome_shares(&ends),
            learning_rate: self.learning_rate(iteration),
            losses: mean_report(&steps),
            arena: evaluation.matches.iter().map(ArenaMetrics::of_match).collect(),
            previous_best: evaluation.previous_best,
            ladder: evaluation.ladder,
            grade: evaluation.grade,
            timing: Timing::new(&times, whole, stats.positions, &stats.cache),
        };
        let start = Instant::now();
        self.save(&metrics, steps_before)?;
        self.log(&metrics, &evaluation.matches);
        self.clock.stages.files += start.elapsed();
        Ok(Some(metrics))
    }

    /// Writes an iteration's positions to disk and adds them to the window.
    fn collect(&mut self, games: SelfPlayGames) -> Result<()> {
        let Setup { game, folder, .. } = self.setup;
        folder.confirm()?;
        self.clock.files(|| folder.save_shard(&games.shard, &game_id(game)))?;
        self.standing.games += games.ends.len() as u64;
        self.standing.positions += games.shard.len() as u64;
        let size =
            window_size(self.standing.positions, self.setup.config.learn.window, self.setup.config.learn.max_window);
        self.window.push(Arc::new(games.shard), size);
        Ok(())
    }

    /// Takes the learner steps that are due and returns their reports, or `None` if interrupted.
    fn learn(&mut self, iteration: u64) -> Result<Option<Vec<StepReport>>> {
        let due = steps_due(&self.setup.config.learn, self.standing.positions).saturating_sub(self.learner.steps());
        let bar = self.setup.reporter.bar("learning", due);
        let mut maker = BatchMaker::new(&self.spec, &self.setup.config.learn);
        let mut reports = Vec::new();
        for _ in 0..due {
            if self.setup.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let step = self.learner.steps();
            let batch = maker.draw(&self.window, &mut stream(self.setup.config.seed, Purpose::Learn, [step, 0]));
            let report = self.learner.step(batch, self.learning_rate(iteration))?;
            reports.push(report);
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(Some(reports))
    }

    /// Share of the run before an iteration, in [0, 1).
    fn progress(&self, iteration: u64) -> f64 {
        (iteration - 1) as f64 / self.setup.config.run.iterations as f64
    }

    fn learning_rate(&self, iteration: u64) -> f64 {
        learning_rate(&self.setup.config.learn, self.learner.steps(), self.progress(iteration))
    }

    fn is_last(&self, iteration: u64) -> bool {
        iteration == self.setup.config.run.iterations
    }
}

fn game_id(game: &dyn TrainableGame) -> GameId {
    GameId { name: game.name().to_owned(), version: game.version(), params: game.params() }
}

/// Means over the steps' reports; `None` without any.
fn mean_report(reports: &[StepReport]) -> Option<StepReport> {
    let n = reports.len() as f64;
    let mean = |field: fn(&StepReport) -> f64| reports.iter().map(field).sum::<f64>() / n;
    let mean_if_learned =
        |field: fn(&StepReport) -> Option<f64>| Some(reports.iter().map(field).sum::<Option<f64>>()? / n);
    (!reports.is_empty()).then(|| StepReport {
        policy_loss: mean(|r| r.policy_loss),
        value_loss: mean(|r| r.value_loss),
        margin_loss: mean_if_learned(|r| r.margin_loss),
        plies_left_loss: mean_if_learned(|r| r.plies_left_loss),
        total_loss: mean(|r| r.total_loss),
        policy_divergence: mean(|r| r.policy_divergence),
        policy_entropy: mean(|r| r.policy_entropy),
        gradient_norm: mean(|r| r.gradient_norm),
    })
}

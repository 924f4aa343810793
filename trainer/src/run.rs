//! The training run: iterations of self-play, learning, matches and writing files.

mod setup;
mod beginning;
mod resuming;
mod restore;
mod wall_clock;
mod self_play;
mod evaluation;
mod save;

pub use beginning::Beginning;
pub(crate) use setup::ENDLESS;
pub use setup::{Players, Setup, confirm_matches, without_end};
use turnstone_base::streams::{Purpose, stream};
use turnstone_base::text::shell_path;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use turnstone_env::Spec;
use turnstone_models::{LearnError, Learner, StepReport};

use self::setup::truth;
use self::wall_clock::WallClock;
use crate::learn::{BatchMaker, learning_rate, steps_due};
use crate::metrics::{MatchMetrics, Metrics, Timing};
use crate::run_folder::{GameCounts, Standing};
use crate::tensorboard::EventLog;
use turnstone_arena::grading::TruthSet;
use turnstone_selfplay::SelfPlayStats;
use turnstone_selfplay::replay::{Shard, Window, window_size};

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

/// A run between two iterations.
pub struct Run<'a> {
    setup: Setup<'a>,
    spec: Spec,
    learner: Learner,
    window: Window,
    standing: Standing,
    events: EventLog,
    clock: WallClock,
    /// Positions of the next iteration, if its games have been played already, as `standing.ahead` says.
    ahead: Option<Shard>,
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
        let mut learner = beginning::new_learner(&setup)?;
        learner.use_threads(config.learn.threads());
        let standing = Standing { window_from: 1, ..Standing::default() };
        folder.save_state(learner.state(), &standing)?;
        let events = EventLog::open(&folder.tensorboard());
        let (spec, window, clock) = (spec.clone(), Window::default(), WallClock::start());
        Ok(Self { setup, spec, learner, window, standing, events, clock, ahead: None, truth })
    }

    /// Restores a run as of the end of its last finished iteration.
    ///
    /// # Errors
    /// A file of the run is missing, damaged or of another game.
    pub fn resume(setup: Setup<'a>) -> Result<Self> {
        let Setup { game, config, folder, .. } = setup;
        if folder.is_unstarted() {
            return Self::start(setup);
        }
        confirm_matches(game, config)?;
        let (mut learner, standing) = resuming::learner_and_standing(&setup)?;
        learner.use_threads(config.learn.threads());
        let window = resuming::window(&setup, &standing)?;
        let ahead = resuming::ahead(&setup, &standing)?;
        resuming::tidy(&setup, &standing)?;
        let events = EventLog::open(&folder.tensorboard());
        let (spec, truth, clock) = (game.spec().clone(), truth(game, config)?, WallClock::start());
        let mut run = Self { setup, spec, learner, window, standing, events, clock, ahead, truth };
        run.restore_checkpoints()?;
        Ok(run)
    }

    /// Iterations finished.
    pub fn iteration(&self) -> u64 {
        self.standing.iteration
    }

    /// Runs iterations until all are done, `stop` is raised, or `time` is up, which is checked between iterations.
    ///
    /// # Errors
    /// The loss is not finite or a file cannot be written. The last finished iteration remains on disk, and the error
    /// names it.
    pub fn train(self, time: Option<Duration>) -> Result<Ending> {
        self.train_watched(time, &mut |_| ControlFlow::Continue(()))
    }

    /// [`Run::train`], which calls `watch` with the metrics of every finished iteration and stops if it breaks off.
    ///
    /// # Errors
    /// Those of [`Run::train`].
    pub fn train_watched(
        mut self,
        time: Option<Duration>,
        watch: &mut dyn FnMut(&Metrics) -> ControlFlow<()>,
    ) -> Result<Ending> {
        let first = self.standing.iteration;
        if first < self.setup.config.run.iterations {
            if let Some(why) = without_end(self.setup.game) {
                self.setup.reporter.warning(&format!("{why}: {ENDLESS}"));
            }
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

    fn iterate_all(
        &mut self,
        time: Option<Duration>,
        watch: &mut dyn FnMut(&Metrics) -> ControlFlow<()>,
    ) -> Result<Ending> {
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
            if watch(&metrics).is_break() && metrics.iteration < self.setup.config.run.iterations {
                return Ok(Ending::Stopped { iteration: metrics.iteration });
            }
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
        let shown = shell_path(folder.path());
        anyhow!(
            "{error:#}; the run remains at iteration {last}: {advice}, then continue with: turnstone train --resume \
             {shown}"
        )
    }

    /// Runs one iteration. Returns `None` if it was interrupted, which discards it.
    fn iterate(&mut self) -> Result<Option<Metrics>> {
        let iteration = self.standing.iteration + 1;
        let steps_before = self.learner.steps();
        let mut work = SelfPlayStats::default();
        let Some((shard, counts)) = self.games(iteration, &mut work)? else { return Ok(None) };
        self.collect(shard, counts);
        let Some(steps) = self.learn_and_play(iteration, &mut work)? else { return Ok(None) };
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
            window: Some(self.window.len()),
            game_length: Some(counts.game_length()),
            outcome_shares: Some(counts.outcome_shares()),
            learning_rate: Some(self.learning_rate(iteration)),
            losses: mean_report(&steps),
            arena: evaluation.matches.iter().map(MatchMetrics::of_match).collect(),
            previous_best: evaluation.previous_best,
            ladder: evaluation.ladder,
            grade: evaluation.grade,
            timing: Timing::new(&times, whole, work.positions, &work.cache),
        };
        let start = Instant::now();
        self.save(&metrics, steps_before)?;
        self.log(&metrics, &evaluation.matches);
        self.clock.stages.files += start.elapsed();
        Ok(Some(metrics))
    }

    /// The games of an iteration, which may have been played ahead. Adds what self-play did to `work`. Returns `None` if
    /// interrupted.
    fn games(&mut self, iteration: u64, work: &mut SelfPlayStats) -> Result<Option<(Shard, GameCounts)>> {
        if let Some(ahead) = self.ahead.take().zip(self.standing.ahead.take()) {
            return Ok(Some(ahead));
        }
        let Some(games) = self.self_play(iteration)? else { return Ok(None) };
        self.write_shard(&games.shard)?;
        work.add(&games.stats);
        let counts = GameCounts::of(&games);
        Ok(Some((games.shard, counts)))
    }

    /// Writes an iteration's positions to disk.
    fn write_shard(&mut self, shard: &Shard) -> Result<()> {
        let Setup { game, folder, .. } = self.setup;
        folder.confirm()?;
        let unsound = |fault| anyhow!("the positions of iteration {} cannot be learned from: {fault}", shard.iteration);
        shard.validate(self.spec.actions).map_err(unsound)?;
        self.clock.files(|| folder.save_shard(shard, game))
    }

    /// Adds an iteration's positions to the window.
    fn collect(&mut self, shard: Shard, counts: GameCounts) {
        self.standing.games += counts.games;
        self.standing.positions += counts.positions;
        let learn = &self.setup.config.learn;
        self.window.push(Arc::new(shard), window_size(self.standing.positions, learn.window, learn.max_window));
    }

    /// Learns from an iteration, and with `run.overlap` plays the next one at the same time with the network as it was
    /// before. Adds what self-play did to `work`. Returns `None` if interrupted.
    fn learn_and_play(&mut self, iteration: u64, work: &mut SelfPlayStats) -> Result<Option<Vec<StepReport>>> {
        if !self.setup.config.run.overlap || self.is_last(iteration) {
            let start = Instant::now();
            let steps = self.learn(iteration);
            self.clock.stages.learn += start.elapsed();
            return steps;
        }
        let Some((games, steps)) = self.self_play_beside(iteration + 1, |run| run.learn(iteration))? else {
            return Ok(None);
        };
        work.add(&games.stats);
        self.write_shard(&games.shard)?;
        self.standing.ahead = Some(GameCounts::of(&games));
        self.ahead = Some(games.shard);
        Ok(Some(steps))
    }

    /// Takes the learner steps that are due and returns their reports, or `None` if interrupted.
    fn learn(&mut self, iteration: u64) -> Result<Option<Vec<StepReport>>> {
        let due = steps_due(&self.setup.config.learn, self.standing.positions).saturating_sub(self.learner.steps());
        let bar = self.setup.reporter.bar("learning", due);
        let mut maker = BatchMaker::new(&self.spec, &self.setup.config.learn);
        let mut reports = Vec::new();
        for _ in 0..due {
            if self.setup.stop.is_raised() {
                return Ok(None);
            }
            let step = self.learner.steps();
            let batch = maker.draw(&self.window, &mut stream(self.setup.config.seed, Purpose::Learn, [step, 0]))?;
            let report = self.learner.step(batch, self.learning_rate(iteration))?;
            reports.push(report);
            bar.inc(1);
        }
        bar.finish_and_clear();
        if due > 0 && !self.setup.has_finite_outputs(&self.learner) {
            let (what, step) = ("output of the averaged network", self.learner.steps());
            return Err(LearnError::NotFinite { what, step, value: f64::NAN }.into());
        }
        Ok(Some(reports))
    }

    fn learning_rate(&self, iteration: u64) -> f64 {
        learning_rate(&self.setup.config.learn, self.learner.steps(), self.setup.config.run.progress(iteration))
    }

    fn is_last(&self, iteration: u64) -> bool {
        iteration == self.setup.config.run.iterations
    }
}

/// Means over the steps' reports; `None` without any.
fn mean_report(reports: &[StepReport]) -> Option<StepReport> {
    let names = reports.first()?.targets.keys();
    let mean = |field: &dyn Fn(&StepReport) -> f64| reports.iter().map(field).sum::<f64>() / reports.len() as f64;
    Some(StepReport {
        policy_loss: mean(&|r| r.policy_loss),
        value_loss: mean(&|r| r.value_loss),
        targets: names.map(|name| (name.clone(), mean(&|r| r.targets[name]))).collect(),
        total_loss: mean(&|r| r.total_loss),
        policy_divergence: mean(&|r| r.policy_divergence),
        policy_entropy: mean(&|r| r.policy_entropy),
        gradient_norm: mean(&|r| r.gradient_norm),
    })
}

#[cfg(test)]
mod tests;

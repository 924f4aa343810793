//! The training run: iterations of self-play, learning, matches and saving.

mod wall_clock;
mod start;
mod self_play;
mod evaluation;
mod save;

pub use start::{InitialCheckpoint, check_programs, check_requirements, fork, reopen};
use turnstone_base::streams::{Purpose, stream};
use turnstone_base::terminal::Reporter;
use turnstone_base::text::shell_path;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use thiserror::Error;
use turnstone_models::{LearnError, Learner, StepReport};

use self::wall_clock::WallClock;
use crate::config::Config;
use crate::learn::{BatchMaker, learning_rate, mean_report, steps_due};
use crate::metrics::{MatchMetrics, Metrics};
use crate::run_folder::{GameCounts, RunFolder, RunState};
use crate::tensorboard::EventLog;
use turnstone_agents::{LoadedNetwork, checkpoint_info};
use turnstone_arena::Remote;
use turnstone_arena::grading::TruthSet;
use turnstone_search::Stop;
use turnstone_selfplay::replay::{Shard, Window, window_size};
use turnstone_selfplay::{ENDLESS, SelfPlayer, ThisMachine, TrainableGame, without_end};

/// Everything a run needs.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// Name and version of the program that trains, as its files record it.
    pub program: &'a str,
    /// The game to learn.
    pub game: &'a dyn TrainableGame,
    /// Configuration of the run.
    pub config: &'a Config,
    /// Folder of the run's files.
    pub folder: &'a RunFolder,
    /// Progress output.
    pub reporter: &'a Reporter,
    /// Flag that stops the run cleanly.
    pub stop: &'a Stop,
    /// Who plays the games.
    pub players: Players<'a>,
}

impl Setup<'_> {
    /// Whether the network that plays has finite outputs along a game.
    fn has_finite_outputs(&self, learner: &Learner) -> bool {
        let info = checkpoint_info(self.game, &self.config.net, &self.config.search.at_play(), learner.steps());
        LoadedNetwork::new(info, learner.averaged().clone()).is_finite(self.game)
    }
}

/// Players of a run's games: by default the threads of this machine.
#[derive(Clone, Copy)]
pub struct Players<'a> {
    /// Plays the games of self-play.
    pub self_play: &'a dyn SelfPlayer,
    /// Plays matches and grades checkpoints instead of this machine.
    pub remote: Option<&'a dyn Remote>,
}

impl Default for Players<'_> {
    fn default() -> Self {
        Self { self_play: &ThisMachine, remote: None }
    }
}

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

/// The stop flag was raised during an iteration, which is discarded.
#[derive(Debug, Error)]
#[error("the iteration was interrupted")]
struct Interrupted;

/// A run between two iterations.
pub struct Run<'a> {
    setup: Setup<'a>,
    learner: Learner,
    window: Window,
    state: RunState,
    /// Positions of the next iteration, if its games have been played already, as `state.ahead` says.
    ahead: Option<Shard>,
    /// Positions with exact values, if checkpoints are graded.
    truth: Option<TruthSet>,
    events: EventLog,
    clock: WallClock,
}

impl Run<'_> {
    /// Iterations finished.
    pub fn iteration(&self) -> u64 {
        self.state.iteration
    }

    /// Runs iterations until all are done, the run is stopped, or `time` is up, which is checked between iterations. `watch` gets
    /// the metrics of each.
    ///
    /// # Errors
    /// The loss is not finite or a file cannot be written. The last finished iteration remains on disk, and the error
    /// names it.
    pub fn train(mut self, time: Option<Duration>, watch: &mut dyn FnMut(&Metrics)) -> Result<Ending> {
        let Setup { game, config, reporter, .. } = self.setup;
        let (first, iterations) = (self.state.iteration, config.run.iterations);
        if first < iterations {
            if let Some(why) = without_end(game) {
                reporter.warning(&format!("{why}: {ENDLESS}"));
            }
            self.record_provenance().map_err(|error| self.ended(&error))?;
            reporter.line(Metrics::LEGEND);
        }
        self.clock = WallClock::start();
        loop {
            let iteration = self.state.iteration;
            if iteration >= iterations {
                return Ok(Ending::Finished);
            }
            if time.is_some_and(|time| self.clock.elapsed() >= time) {
                return Ok(Ending::Stopped { iteration });
            }
            match self.iterate() {
                Ok(metrics) => {
                    let per_iteration = self.clock.elapsed() / (metrics.iteration - first) as u32;
                    let left = per_iteration * (iterations - metrics.iteration) as u32;
                    reporter.line(&metrics.line(iterations, left));
                    watch(&metrics);
                }
                Err(error) if error.is::<Interrupted>() => return Ok(Ending::Stopped { iteration }),
                Err(error) => return Err(self.ended(&error)),
            }
        }
    }

    /// Runs one iteration.
    fn iterate(&mut self) -> Result<Metrics> {
        let iteration = self.state.iteration + 1;
        let steps_before = self.learner.steps();
        let (shard, counts) = self.games(iteration)?;
        self.collect(shard, counts);
        let reports = self.learn_and_play(iteration)?;
        let evaluation = self.evaluate(iteration)?;
        let metrics = Metrics {
            iteration,
            step: self.learner.steps(),
            games: self.state.games,
            positions: self.state.positions,
            window: Some(self.window.len()),
            game_length: Some(counts.game_length()),
            outcome_shares: Some(counts.outcome_shares()),
            learning_rate: Some(self.learning_rate(iteration)),
            losses: mean_report(&reports),
            arena: evaluation.matches.iter().map(MatchMetrics::of_match).collect(),
            previous_best: evaluation.previous_best,
            ladder: evaluation.ladder,
            grade: evaluation.grade,
            timing: self.clock.end_iteration(),
        };
        self.save(&metrics, steps_before, &evaluation.matches)?;
        Ok(metrics)
    }

    /// The games of an iteration, which may have been played ahead.
    fn games(&mut self, iteration: u64) -> Result<(Shard, GameCounts)> {
        match self.ahead.take().zip(self.state.ahead.take()) {
            Some(ahead) => Ok(ahead),
            None => self.self_play(iteration),
        }
    }

    /// Adds an iteration's positions to the window.
    fn collect(&mut self, shard: Shard, counts: GameCounts) {
        self.state.games += counts.games;
        self.state.positions += counts.positions;
        let learn = &self.setup.config.learn;
        self.window.push(Arc::new(shard), window_size(self.state.positions, learn.window, learn.max_window));
    }

    /// Learns from an iteration, and with `run.overlap` plays the next one at the same time with the network as it was
    /// before.
    fn learn_and_play(&mut self, iteration: u64) -> Result<Vec<StepReport>> {
        if !self.setup.config.run.overlap || self.is_last(iteration) {
            let start = Instant::now();
            let reports = self.learn(iteration)?;
            self.clock.stages.learn_seconds += start.elapsed().as_secs_f64();
            return Ok(reports);
        }
        let ((shard, counts), reports) = self.self_play_beside(iteration + 1, |run| run.learn(iteration))?;
        (self.ahead, self.state.ahead) = (Some(shard), Some(counts));
        Ok(reports)
    }

    /// Takes the learner steps that are due, each of which also averages the weights, and returns their reports.
    fn learn(&mut self, iteration: u64) -> Result<Vec<StepReport>> {
        let Setup { game, config, reporter, stop, .. } = self.setup;
        let due = steps_due(&config.learn, self.state.positions).saturating_sub(self.learner.steps());
        let bar = reporter.bar("learning", due);
        let mut maker = BatchMaker::new(game.spec(), &config.learn);
        let mut reports = Vec::new();
        for _ in 0..due {
            if stop.is_raised() {
                return Err(Interrupted.into());
            }
            let step = self.learner.steps();
            let batch = maker.draw(&self.window, &mut stream(config.seed, Purpose::Learn, [step, 0]))?;
            reports.push(self.learner.step(batch, self.learning_rate(iteration))?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        if due > 0 && !self.setup.has_finite_outputs(&self.learner) {
            let (what, step) = ("output of the averaged network", self.learner.steps());
            return Err(LearnError::NotFinite { what, step, value: f64::NAN }.into());
        }
        Ok(reports)
    }

    fn learning_rate(&self, iteration: u64) -> f64 {
        learning_rate(&self.setup.config.learn, self.learner.steps(), self.setup.config.run.progress(iteration))
    }

    fn is_last(&self, iteration: u64) -> bool {
        iteration == self.setup.config.run.iterations
    }

    /// Adds to the error of a failed iteration the state of the run and advice.
    fn ended(&self, error: &anyhow::Error) -> anyhow::Error {
        let (folder, last) = (self.setup.folder, self.state.iteration);
        if let Err(gone) = folder.check_lock() {
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
}

#[cfg(test)]
mod tests;

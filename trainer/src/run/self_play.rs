//! Self-play of an iteration, beside which the learner may work.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::Run;
use super::setup::Setup;
use crate::config::Config;
use crate::metrics::StageTimes;
use turnstone_agents::CALIBRATION_POSITIONS;
use turnstone_search::Stop;
use turnstone_selfplay::{GameSettings, MOST_PLIES, Progress, SelfPlayGames, Task};

/// Time between two looks at the progress of self-play and at the flag that stops the run.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl<'a> Run<'a> {
    /// Plays the games of an iteration. Returns `None` if interrupted.
    pub(super) fn self_play(&mut self, iteration: u64) -> Result<Option<SelfPlayGames>> {
        let (setup, task) = (self.setup, self.task(iteration));
        let played = play_beside(&setup, &task, || Ok(Some(())))?;
        Ok(played.map(|(games, (), times)| {
            self.clock.stages.add(&StageTimes { learn: Duration::ZERO, both: Duration::ZERO, ..times });
            games
        }))
    }

    /// Plays the games of an iteration with the network and the window as they are now while `learn` changes the run.
    /// Returns `None` if interrupted or if `learn` returns `None`.
    pub(super) fn self_play_beside<T>(
        &mut self,
        iteration: u64,
        learn: impl FnOnce(&mut Self) -> Result<Option<T>>,
    ) -> Result<Option<(SelfPlayGames, T)>> {
        let (setup, task) = (self.setup, self.task(iteration));
        let played = play_beside(&setup, &task, || learn(self))?;
        Ok(played.map(|(games, learned, times)| {
            self.clock.stages.add(&times);
            (games, learned)
        }))
    }

    /// What the games of an iteration depend on, as of now.
    fn task(&self, iteration: u64) -> Task {
        let Config { net, search, self_play, seed, run, .. } = self.setup.config;
        let samples =
            if self_play.precision.is_quantised() { self.window.spread(CALIBRATION_POSITIONS) } else { vec![] };
        let simulations = search.simulations_at(run.progress(iteration));
        let settings = GameSettings { simulations, ..GameSettings::new(search, self_play, *seed, iteration) };
        Task { samples, ..Task::new(settings, net, self.learner.averaged()) }
    }
}

/// Plays the games of a task on threads of their own while this thread does `work`, and returns both results with their
/// times. Returns `None` if the run is stopped or `work` returns `None`; an error of `work` stops the games.
fn play_beside<T>(
    setup: &Setup<'_>,
    task: &Task,
    work: impl FnOnce() -> Result<Option<T>>,
) -> Result<Option<(SelfPlayGames, T, StageTimes)>> {
    let (progress, halt, start) = (Progress::default(), Stop::default(), Instant::now());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let (counted, halted) = (&progress, &halt);
        let playing = scope.spawn(move || {
            let games = setup.players.self_play.self_play(setup.game, task, counted, halted);
            let _ = sender.send((games, start.elapsed())); // this function waits for it
        });
        let worked = work();
        let learn = start.elapsed();
        if !matches!(worked, Ok(Some(_))) {
            halt.raise();
        }
        let bar = setup.reporter.bar("self-play", task.settings.self_play.games_per_iteration as u64);
        let watch = || {
            bar.set_position(progress.games.load(Ordering::Relaxed));
            if setup.stop.is_raised() {
                halt.raise();
            }
        };
        let Some((games, self_play)) = watched(&receiver, watch) else {
            let panic = playing.join().expect_err("a thread that ends well has sent its games");
            std::panic::resume_unwind(panic)
        };
        bar.finish_and_clear();
        let games = games.map_err(anyhow::Error::from_boxed);
        let (Some(worked), Some(games)) = (worked?, games?) else { return Ok(None) };
        let endless = games.ends.iter().filter(|(outcome, plies)| outcome.truncated && *plies >= MOST_PLIES).count();
        if endless > 0 {
            let fault = format!("{endless} games of self-play had no end in {MOST_PLIES} plies and count as draws");
            setup.reporter.warning(&format!("{fault}: set a limit of plies, if the game has one"));
        }
        let times = StageTimes {
            self_play,
            learn,
            both: learn.min(self_play),
            idle: games.stats.idle,
            ..StageTimes::default()
        };
        Ok(Some((games, worked, times)))
    })
}

/// Waits for what is sent, and calls `watch` now and then. `None` if the sender is gone.
fn watched<T>(receiver: &Receiver<T>, watch: impl Fn()) -> Option<T> {
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(sent) => return Some(sent),
            Err(RecvTimeoutError::Timeout) => watch(),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

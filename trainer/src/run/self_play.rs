//! Self-play of an iteration, beside which the learner may work.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::{Interrupted, Run, Setup};
use crate::config::Config;
use crate::run_folder::GameCounts;
use turnstone_agents::CALIBRATION_POSITIONS;
use turnstone_search::Stop;
use turnstone_selfplay::replay::Shard;
use turnstone_selfplay::{GameSettings, MOST_PLIES, SelfPlayCounters, SelfPlayGames, Task};

/// Time between two looks at the progress of self-play and at the flag that stops the run.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl Run<'_> {
    /// Plays the games of an iteration, and writes their positions to disk.
    pub(super) fn self_play(&mut self, iteration: u64) -> Result<(Shard, GameCounts)> {
        let (setup, task) = (self.setup, self.task(iteration));
        let (games, (), [time, _]) = play_beside(&setup, &task, || Ok(()))?;
        self.clock.played(time, Duration::ZERO, &games.stats);
        self.store(games)
    }

    /// Plays the games of an iteration with the network and the window as they are now while `learn` changes the run, and writes
    /// their positions to disk.
    pub(super) fn self_play_beside<T>(
        &mut self,
        iteration: u64,
        learn: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<((Shard, GameCounts), T)> {
        let (setup, task) = (self.setup, self.task(iteration));
        let (games, learned, [time, learning]) = play_beside(&setup, &task, || learn(self))?;
        self.clock.played(time, learning, &games.stats);
        Ok((self.store(games)?, learned))
    }

    /// Writes the positions of an iteration to disk.
    fn store(&mut self, games: SelfPlayGames) -> Result<(Shard, GameCounts)> {
        let Setup { game, folder, .. } = self.setup;
        let (counts, shard) = (GameCounts::of(&games), games.shard);
        folder.check_lock()?;
        let unsound = |fault| anyhow!("the positions of iteration {} cannot be learned from: {fault}", shard.iteration);
        shard.validate(game.spec().actions).map_err(unsound)?;
        self.clock.files(|| folder.save_shard(&shard, game))?;
        Ok((shard, counts))
    }

    /// The task of an iteration, as of now.
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
/// times. An error of `work` stops the games.
fn play_beside<T>(
    setup: &Setup<'_>,
    task: &Task,
    work: impl FnOnce() -> Result<T>,
) -> Result<(SelfPlayGames, T, [Duration; 2])> {
    let (progress, halt, start) = (SelfPlayCounters::default(), Stop::default(), Instant::now());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let (counted, halted) = (&progress, &halt);
        let playing = scope.spawn(move || {
            let games = setup.players.self_play.self_play(setup.game, task, counted, halted);
            let _ = sender.send((games, start.elapsed())); // this function waits for it
        });
        let worked = work();
        let learn = start.elapsed();
        if worked.is_err() {
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
        let worked = worked?;
        let games = games.map_err(anyhow::Error::from_boxed)?.ok_or(Interrupted)?;
        let endless = games.ends.iter().filter(|(outcome, plies)| outcome.truncated && *plies >= MOST_PLIES).count();
        if endless > 0 {
            let fault = format!("{endless} games of self-play had no end in {MOST_PLIES} plies and count as draws");
            setup.reporter.warning(&format!("{fault}: set a limit of plies, if the game has one"));
        }
        Ok((games, worked, [self_play, learn]))
    })
}

/// Waits for what is sent, and calls `watch` now and then. `None` once the sender is dropped.
fn watched<T>(receiver: &Receiver<T>, watch: impl Fn()) -> Option<T> {
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(sent) => return Some(sent),
            Err(RecvTimeoutError::Timeout) => watch(),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

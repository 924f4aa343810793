//! The input of a run, and the files of its game that it needs.

use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use turnstone_base::terminal::Reporter;

use crate::config::Config;
use crate::run_folder::RunFolder;
use turnstone_agents::{Agent, LoadedNetwork, checkpoint_info};
use turnstone_arena::grading::{TruthSet, known};
use turnstone_arena::{Ladder, Remote};
use turnstone_models::Learner;
use turnstone_selfplay::{SelfPlayer, ThisMachine, TrainableGame};

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
    pub stop: &'a AtomicBool,
    /// Who plays the games.
    pub players: Players<'a>,
}

impl Setup<'_> {
    /// Whether the network that plays has finite outputs along a game.
    pub(super) fn has_finite_outputs(&self, learner: &Learner) -> bool {
        let info = checkpoint_info(self.game, &self.config.net, &self.config.search.settings(), learner.steps());
        LoadedNetwork::new(info, learner.averaged().clone()).is_finite(self.game)
    }
}

/// Who plays the games of a run: the threads of this machine, unless others do.
#[derive(Clone, Copy)]
pub struct Players<'a> {
    /// Plays the games of self-play.
    pub self_play: &'a dyn SelfPlayer,
    /// Plays matches and grades checkpoints in place of this machine.
    pub remote: Option<&'a dyn Remote>,
}

impl Default for Players<'_> {
    fn default() -> Self {
        Self { self_play: &ThisMachine, remote: None }
    }
}

/// Checks, before a run begins or continues, what it needs: that its devices can be used, that every opponent of its
/// matches can be loaded, and that the game comes with a ladder if the config uses one. Other programs are not started.
///
/// # Errors
/// One line that names the key and the fault.
pub fn confirm_matches(game: &dyn TrainableGame, config: &Config) -> Result<()> {
    config.self_play.device.check().context("self_play.device")?;
    config.learn.device.check().context("learn.device")?;
    for opponent in &config.arena.opponents {
        Agent::load(opponent, game).context("arena.opponents")?;
    }
    if config.arena.ladder_games > 0 {
        Ladder::shipped(game).context("arena.ladder_games")?;
    }
    Ok(())
}

/// Returns the positions for grading, if the config enables it and the game comes with some.
pub(super) fn truth(game: &dyn TrainableGame, config: &Config) -> Result<Option<TruthSet>> {
    if config.arena.grade { known(game) } else { Ok(None) }
}

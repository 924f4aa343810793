//! The input of a run, and the files of its game that it needs.

use anyhow::{Context, Result};
use rand::RngExt;
use turnstone_base::terminal::Reporter;
use turnstone_search::Stop;

use crate::config::Config;
use crate::run_folder::RunFolder;
use turnstone_agents::{Agent, LoadedNetwork, checkpoint_info};
use turnstone_arena::grading::{TruthSet, known};
use turnstone_arena::{Ladder, Remote};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{ActionList, DynGame};
use turnstone_models::Learner;
use turnstone_selfplay::{MOST_PLIES, SelfPlayer, ThisMachine, TrainableGame};

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
    pub(super) fn has_finite_outputs(&self, learner: &Learner) -> bool {
        let info = checkpoint_info(self.game, &self.config.net, &self.config.search.at_play(), learner.steps());
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

/// Why a game may have no end; `None` if it has a limit of plies, or no such limits and a random game that ends.
#[must_use]
pub fn without_end(game: &dyn DynGame) -> Option<String> {
    let (name, limits, params) = (game.name(), &game.spec().ply_limits, game.params());
    let is_off = |limit: &&str| params.iter().any(|(key, value)| key == *limit && value == "0");
    if !limits.is_empty() && limits.iter().all(is_off) {
        return Some(format!("games of {name} may have no end, as {} is 0", limits.join(" and ")));
    }
    let (mut state, mut legal) = (game.start(), ActionList::new());
    let mut rng = stream(0, Purpose::Openings, [0, 2]);
    for _ in 0..if limits.is_empty() { MOST_PLIES } else { 0 } {
        game.legal(&state, &mut legal);
        if legal.is_empty() {
            return None;
        }
        game.play(&mut state, legal[rng.random_range(0..legal.len())]);
    }
    limits
        .is_empty()
        .then(|| format!("games of {name} may have no end: a random one is running after {MOST_PLIES} plies"))
}

/// What comes of games without an end.
pub(crate) const ENDLESS: &str =
    "self-play ends each as a draw after 10000 plies, matches play them until they are stopped";

/// Returns the positions for grading, if the config enables it and the game comes with some.
pub(super) fn truth(game: &dyn TrainableGame, config: &Config) -> Result<Option<TruthSet>> {
    if config.arena.grade { known(game) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::{Params, games::built_in};

    #[test]
    fn games_without_a_limit_of_plies_are_named() {
        let found = |name: &str, params: &[&str]| {
            let params = params.iter().fold(Params::new(), |params, key| params.with(*key, 0));
            without_end(&*built_in().make(name, &params).expect("a game"))
        };
        for name in ["konane", "mancala", "morabaraba", "morris", "mu_torere"] {
            assert_eq!(found(name, &[]), None, "{name}");
        }
        let endless = "games of mu_torere may have no end, as max_plies is 0";
        assert_eq!(found("mu_torere", &["max_plies"]).as_deref(), Some(endless));
        assert_eq!(found("morabaraba", &["fly_limit"]), None, "one limit is enough");
        assert!(found("morabaraba", &["fly_limit", "quiet_limit"]).is_some());
        assert!(ENDLESS.contains(&MOST_PLIES.to_string()));
    }
}

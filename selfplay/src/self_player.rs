//! Who plays the games of an iteration: the threads of this machine, or others on its behalf.

use std::error::Error;

use crate::self_play::{SelfPlayCounters, SelfPlayGames, Task};
use crate::trainable::TrainableGame;
use turnstone_search::Stop;

/// Why games could not be played.
pub type SelfPlayError = Box<dyn Error + Send + Sync>;

/// Plays the games of iterations. They are the same for every player.
pub trait SelfPlayer: Sync {
    /// Plays the games of one iteration. Returns `None` if `stop` was raised before they were finished.
    ///
    /// # Errors
    /// The weights do not match the network, the GPU failed, or the games cannot be played elsewhere.
    fn self_play(
        &self,
        game: &dyn TrainableGame,
        task: &Task,
        progress: &SelfPlayCounters,
        stop: &Stop,
    ) -> Result<Option<SelfPlayGames>, SelfPlayError>;
}

/// The threads of this machine.
#[derive(Clone, Copy, Default, Debug)]
pub struct ThisMachine;

impl SelfPlayer for ThisMachine {
    fn self_play(
        &self,
        game: &dyn TrainableGame,
        task: &Task,
        progress: &SelfPlayCounters,
        stop: &Stop,
    ) -> Result<Option<SelfPlayGames>, SelfPlayError> {
        Ok(game.self_play(task, progress, stop)?)
    }
}

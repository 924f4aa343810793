//! Players of an iteration's games: the threads of this machine, or other machines.

use std::error::Error;

use crate::self_play::{SelfPlayCounters, SelfPlayGames, Task};
use crate::trainable::TrainableGame;
use turnstone_search::Stop;

/// Why games could not be played.
pub type SelfPlayError = Box<dyn Error + Send + Sync>;

/// Plays the self-play games of one iteration, on this machine or a cluster. Every implementation returns the same games for
/// the same [`Task`].
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

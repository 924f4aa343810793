//! Players of an iteration's games: the threads of this machine, or other processes and machines.

use std::error::Error;
use std::path::Path;

use turnstone_agents::settings::Settings;
use turnstone_agents::{LoadedNetwork, checkpoint_params, shape};
use turnstone_models::{CheckpointInfo, save_bytes};
use turnstone_search::Stop;

use crate::self_play::{GameSettings, SelfPlayCounters, SelfPlayGames, Task};
use crate::trainable::TrainableGame;

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

/// A [`Task`] for another process or machine, with its network as the bytes of a checkpoint.
#[derive(Clone, Debug)]
pub struct PackedTask {
    /// As in the task.
    pub settings: GameSettings,
    /// Checkpoint of the network.
    pub checkpoint: Vec<u8>,
    /// As in the task.
    pub samples: Vec<f32>,
}

impl PackedTask {
    /// Packs a task. Threads have no part in it, and `auto` becomes the arithmetic that this machine would choose.
    ///
    /// # Errors
    /// The weights do not match the network.
    pub fn new(task: &Task, game: &dyn TrainableGame) -> Result<Self, SelfPlayError> {
        let mut settings = task.settings.clone();
        settings.self_play.threads = 0;
        settings.self_play.precision = settings.self_play.precision.resolved();
        let (params, shape) = (checkpoint_params(game), shape(game.spec()));
        let info = CheckpointInfo::new(game.name(), game.version(), params, task.network.clone(), shape, 0);
        Ok(Self { settings, checkpoint: save_bytes(&info, &task.weights)?, samples: task.samples.clone() })
    }

    /// The task, which may come from anywhere.
    ///
    /// # Errors
    /// A setting is out of range, or the checkpoint is malformed or for another game.
    pub fn task(self, game: &dyn TrainableGame) -> Result<Task, SelfPlayError> {
        let Self { settings, checkpoint, samples } = self;
        settings.search.check().and_then(|()| settings.self_play.validate())?;
        settings.self_play.opening_states(game)?;
        let name = Path::new("of the work");
        let LoadedNetwork { info, weights, .. } = LoadedNetwork::from_bytes(&checkpoint, name)?.checked(name, game)?;
        Ok(Task { settings, network: info.network, weights, samples })
    }
}

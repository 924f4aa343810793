//! Trained networks read from their files and checked against a game.

use std::path::{Path, PathBuf};

use turnstone_env::DynGame;
use turnstone_models::{CheckpointInfo, NetworkConfig, Weights};

use crate::error::AgentError;
use crate::evaluator::shape;
use crate::search_settings::SearchSettings;

/// The checkpoint's name that stands for the agent that comes with the program (`./pretrained` is a file of that name).
pub const PRETRAINED: &str = "pretrained";
/// What errors call its file.
const PRETRAINED_FILE: &str = "az:pretrained";

/// A checkpoint that has been read, once for all threads.
#[derive(Clone, Debug)]
pub struct LoadedNetwork {
    /// The checkpoint's metadata.
    pub info: CheckpointInfo,
    /// Its weights.
    pub weights: Weights,
}

impl LoadedNetwork {
    /// Reads a checkpoint of any game: a file, or a run folder's `latest.safetensors`.
    ///
    /// # Errors
    /// One line that names the file and the fault.
    pub fn read(checkpoint: &Path) -> Result<Self, AgentError> {
        let (info, weights) = turnstone_models::load(&file(checkpoint))?;
        Ok(Self { info, weights })
    }

    /// Reads a checkpoint from memory; errors call it `name`.
    ///
    /// # Errors
    /// One line that names it and the fault.
    pub fn from_bytes(bytes: &[u8], name: &Path) -> Result<Self, AgentError> {
        let (info, weights) = turnstone_models::load_bytes(bytes, name)?;
        Ok(Self { info, weights })
    }

    /// Reads the agent that comes with the program for the game of this name, from its file as it was when the program
    /// was built.
    ///
    /// # Errors
    /// There is none for this game.
    pub fn pretrained(game: &str, file: Option<&[u8]>) -> Result<Self, AgentError> {
        let games = || turnstone_models::pretrained_games().collect::<Vec<_>>().join(", ");
        let bytes = file.ok_or_else(|| AgentError::NotPretrained { game: game.to_owned(), games: games() })?;
        Self::from_bytes(bytes, Path::new(PRETRAINED_FILE))
    }

    /// Confirms that it is a network of this game; `checkpoint` is where it was read from.
    ///
    /// # Errors
    /// How it differs.
    pub fn checked(self, checkpoint: &Path, game: &dyn DynGame) -> Result<Self, AgentError> {
        self.info
            .expect(game.name(), game.version(), &checkpoint_params(game), &shape(game.spec()))
            .map_err(|mismatch| AgentError::Mismatch { path: file(checkpoint), mismatch })?;
        Ok(self)
    }

    /// The settings of the search that it was trained with; the defaults where the checkpoint does not say.
    #[must_use]
    pub fn search_settings(&self) -> SearchSettings {
        self.info.extra.get(SEARCH_KEY).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

/// The metadata that holds the search settings, as JSON.
const SEARCH_KEY: &str = "search";

/// The file that a checkpoint's name means, as errors name it.
fn file(checkpoint: &Path) -> PathBuf {
    if checkpoint.as_os_str() == PRETRAINED {
        PathBuf::from(PRETRAINED_FILE)
    } else if checkpoint.is_dir() {
        checkpoint.join("latest.safetensors")
    } else {
        checkpoint.to_owned()
    }
}

/// A game's parameters in the form that checkpoints keep.
pub fn checkpoint_params(game: &dyn DynGame) -> turnstone_models::CheckpointParams {
    game.params().iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

/// A checkpoint's parameters as a game takes them.
pub fn game_params(info: &CheckpointInfo) -> turnstone_env::Params {
    let mut params = turnstone_env::Params::new();
    for (key, value) in &info.params {
        match value.as_str() {
            Some(text) => params.set(key, text),
            None => params.set(key, value),
        }
    }
    params
}

/// The metadata of a checkpoint of this game, after `step` steps of training with this search.
pub fn checkpoint_info(
    game: &dyn DynGame,
    network: &NetworkConfig,
    search: &SearchSettings,
    step: u64,
) -> CheckpointInfo {
    let (name, version) = (game.name(), game.version());
    let mut info =
        CheckpointInfo::new(name, version, checkpoint_params(game), network.clone(), shape(game.spec()), step);
    info.extra.insert(SEARCH_KEY.to_owned(), serde_json::to_string(search).expect("plain fields"));
    info
}

//! Trained networks loaded from checkpoints and checked against a game.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use turnstone_base::checksum::crc32_text;
use turnstone_base::text::nearest;
use turnstone_env::{DynGame, Rules};
use turnstone_models::{
    CheckpointInfo, ComputeDevice, GpuInference, Inference, NetworkConfig, NetworkError, Precision, QuantisedNetwork,
    Weights,
};
use turnstone_search::Split;

use crate::calibration::random_observations;
use crate::error::AgentError;
use crate::network_backend::{AnyBackend, GpuBackend, NetworkBackend, shape};
use crate::search_settings::SearchSettings;

/// Name of a checkpoint that means the agent shipped with the program (`./pretrained` is a file of that name).
pub const PRETRAINED: &str = "pretrained";
/// Name of that agent's file in errors.
const PRETRAINED_FILE: &str = "az:pretrained";

/// Checkpoint in memory; can be shared by all threads.
#[derive(Clone, Debug)]
pub struct LoadedNetwork {
    /// Metadata of the checkpoint.
    pub info: CheckpointInfo,
    /// Weights of the network.
    pub weights: Weights,
    /// The quantised network, made at its first use and shared with clones.
    quantised: Arc<OnceLock<Arc<QuantisedNetwork>>>,
}

impl LoadedNetwork {
    /// A network that is in memory already.
    #[must_use]
    pub fn new(info: CheckpointInfo, weights: Weights) -> Self {
        Self { info, weights, quantised: Arc::default() }
    }

    /// Reads a checkpoint of any game: a file, or `latest.safetensors` of a run folder.
    ///
    /// # Errors
    /// The file cannot be read or is not a valid checkpoint; the message names the file and the fault.
    pub fn read(checkpoint: &Path) -> Result<Self, AgentError> {
        if !checkpoint.exists() {
            let advice = similar(checkpoint).map(|name| format!(" (did you mean `az:{name}`?)")).unwrap_or_default();
            return Err(AgentError::NoCheckpoint { path: checkpoint.to_owned(), advice });
        }
        let (info, weights) = turnstone_models::load(&file(checkpoint))?;
        Ok(Self::new(info, weights))
    }

    /// Reads a checkpoint from memory; errors show `name` as its file.
    ///
    /// # Errors
    /// The bytes are not a valid checkpoint; the message contains `name` and the fault.
    pub fn from_bytes(bytes: &[u8], name: &Path) -> Result<Self, AgentError> {
        let (info, weights) = turnstone_models::load_bytes(bytes, name)?;
        Ok(Self::new(info, weights))
    }

    /// Reads the agent shipped with the program for the game of this name; `file` holds its checkpoint, compiled into
    /// the program.
    ///
    /// # Errors
    /// The game has none, or it is not a valid checkpoint.
    pub fn pretrained(game: &str, file: Option<&[u8]>) -> Result<Self, AgentError> {
        let bytes = file.ok_or_else(|| AgentError::NotPretrained { game: game.to_owned() })?;
        Self::from_bytes(bytes, Path::new(PRETRAINED_FILE))
    }

    /// Checks that it is a network for this game; `checkpoint` is the name shown in an error.
    ///
    /// # Errors
    /// Game, version, parameters or shape differ.
    pub fn checked(self, checkpoint: &Path, game: &dyn DynGame) -> Result<Self, AgentError> {
        self.info
            .expect(game.name(), game.version(), &checkpoint_params(game), &shape(game.spec()))
            .map_err(|mismatch| AgentError::Mismatch { path: file(checkpoint), mismatch })?;
        if !self.is_finite(game) {
            return Err(AgentError::NotFinite(file(checkpoint)));
        }
        Ok(self)
    }

    /// Whether the outputs along a game are finite. Weights that are finite, but huge, may lead to others.
    #[must_use]
    pub fn is_finite(&self, game: &dyn DynGame) -> bool {
        const POSITIONS: usize = 16;
        let Ok(mut inference) = Inference::new(&self.weights, &self.info.network, &shape(game.spec()), POSITIONS)
        else {
            return false;
        };
        let (mut state, width) = (game.start(), game.spec().features());
        let (mut features, mut rows) = (vec![0.0; POSITIONS * width], 0);
        while rows < POSITIONS {
            let legal = game.legal_actions(&state);
            game.observe(&state, &mut features[rows * width..(rows + 1) * width]);
            rows += 1;
            let Some(&action) = legal.get(rows % legal.len().max(1)) else { break };
            game.play(&mut state, action);
        }
        let outputs = inference.evaluate(rows, &features[..rows * width]);
        outputs.policy.iter().chain(outputs.value).all(|number| number.is_finite())
    }

    /// A backend for the game that the network has been checked for, which evaluates up to `max_batch` positions at a time. A
    /// quantised network is quantised by the positions of random games.
    ///
    /// # Errors
    /// The weights do not match the network and the game's shape, the network has no such arithmetic, or the GPU cannot be
    /// used.
    pub(crate) fn backend<G: Rules>(
        &self,
        game: &G,
        precision: Precision,
        device: ComputeDevice,
        max_batch: usize,
    ) -> Result<AnyBackend<G>, NetworkError> {
        let (spec, config) = (game.spec(), &self.info.network);
        if let ComputeDevice::Gpu(number) = device {
            let inference = GpuInference::new(&self.weights, config, &shape(&spec), number, precision, max_batch)?;
            return Ok(Box::new(Split::new(GpuBackend::new(spec, inference), max_batch)));
        }
        if !precision.is_quantised() {
            let backend = NetworkBackend::new(spec, config, &self.weights, max_batch)?;
            return Ok(Box::new(backend.split()));
        }
        let network = match self.quantised.get() {
            Some(network) => network,
            None => {
                let samples = random_observations(game);
                let network = QuantisedNetwork::new(&self.weights, config, &shape(&spec), &samples)?;
                self.quantised.get_or_init(|| Arc::new(network))
            }
        };
        Ok(Box::new(NetworkBackend::quantised(spec, network, max_batch).split()))
    }

    /// Checksums of the weights, and of the settings that play depends on: those of the search and of the network.
    ///
    /// # Panics
    /// Never: the settings have plain fields.
    #[must_use]
    pub fn checksums(&self) -> [String; 2] {
        let settings = serde_json::to_string(&(self.search_settings(), &self.info.network)).expect("plain fields");
        [format!("{:08x}", self.weights_checksum()), crc32_text(settings.as_bytes())]
    }

    /// CRC-32 of the weights.
    pub(crate) fn weights_checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for tensor in self.weights.tensors() {
            hasher.update(bytemuck::cast_slice(&tensor.data));
        }
        hasher.finalize()
    }

    /// Settings of the search used in training; the defaults where the checkpoint, which may come from anywhere, lacks them.
    #[must_use]
    pub fn search_settings(&self) -> SearchSettings {
        self.info.extra.get(SEARCH_KEY).map_or_else(SearchSettings::default, |text| SearchSettings::of_json(text))
    }
}

/// Metadata key of the search settings, which are stored as JSON.
const SEARCH_KEY: &str = "search";

/// The most similar name to that of a missing checkpoint: the program's own agent, a file of the same folder, or a run
/// in `runs`.
fn similar(checkpoint: &Path) -> Option<String> {
    let name = checkpoint.file_name()?.to_str()?;
    let within = |folder: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
    };
    let folder = checkpoint.parent().unwrap_or(Path::new(""));
    let siblings = within(folder);
    if let Some(near) = nearest(name, siblings.iter().map(String::as_str)) {
        return Some(folder.join(near).display().to_string());
    }
    if !folder.as_os_str().is_empty() {
        return None;
    }
    let runs = within(Path::new("runs"));
    let near = nearest(name, std::iter::once(PRETRAINED).chain(runs.iter().map(String::as_str)))?;
    Some(if near == PRETRAINED { near.to_owned() } else { format!("runs/{near}") })
}

/// The file that a checkpoint's name refers to, as shown in errors.
fn file(checkpoint: &Path) -> PathBuf {
    if checkpoint.as_os_str() == PRETRAINED { PathBuf::from(PRETRAINED_FILE) } else { checkpoint_file(checkpoint) }
}

/// The file of a checkpoint: the path itself, or `latest.safetensors` of a run folder.
#[must_use]
pub fn checkpoint_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("latest.safetensors") } else { path.to_owned() }
}

/// A game's parameters in the form stored in checkpoints.
pub fn checkpoint_params(game: &dyn DynGame) -> turnstone_models::CheckpointParams {
    game.params().iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

/// A checkpoint's parameters in the form that games take.
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

/// Metadata for a checkpoint of this game after `step` training steps with this search.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_answered_with_the_nearest() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("mancala")).expect("writable");
        let fault = |name: &Path| LoadedNetwork::read(name).map(drop).expect_err("there is none").to_string();
        assert!(fault(Path::new("pretraned")).ends_with("(did you mean `az:pretrained`?)"));
        let near = fault(&folder.path().join("mancalla"));
        assert!(near.contains("did you mean `az:") && near.contains("mancala`"), "{near}");
        assert!(fault(Path::new("quite another")).ends_with("no such checkpoint or run"));
    }
}

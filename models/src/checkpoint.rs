//! Checkpoints: `.safetensors` files with the weights of a network, and the network and game in the metadata.

use std::collections::BTreeMap;
use std::path::Path;

use crate::kinds::NetworkConfig;
use crate::shape::Shape;
use crate::tensor_file::{self, CheckpointError, Contents, Fault, PREFIX, json, take, take_json};
use crate::weights::Weights;

const KIND: &str = "checkpoint";
const GAME: &str = "turnstone.game";
const GAME_VERSION: &str = "turnstone.game_version";
const PARAMS: &str = "turnstone.params";
const NETWORK: &str = "turnstone.network";
const INPUTS: &str = "turnstone.inputs";
const ACTIONS: &str = "turnstone.actions";
const BOARD: &str = "turnstone.board";
const STEP: &str = "turnstone.step";
const CREATED_BY: &str = "turnstone.created_by";

/// What a file is written by unless its writer says otherwise: name and version of this library.
const LIBRARY: &str = concat!("turnstone ", env!("CARGO_PKG_VERSION"));

/// Parameters of a game by name, a JSON object. Equality does not depend on the order.
pub type CheckpointParams = serde_json::Map<String, serde_json::Value>;

/// The metadata of a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointInfo {
    /// Name of the game.
    pub game: String,
    /// Version of the game's rules, actions and planes.
    pub game_version: u32,
    /// Parameters of the game.
    pub params: CheckpointParams,
    /// Kind and size of the network.
    pub network: NetworkConfig,
    /// Shape of the game.
    pub shape: Shape,
    /// Number of training steps.
    pub step: u64,
    /// Name and version of the program that wrote the file, with its commit where that is known: `turnstone 0.1.0 (ab12cd34
    /// 2026-11-22)`. Of new metadata it is this library, until the program that writes the file names itself.
    pub created_by: String,
    /// Other entries, whose keys must not begin with `turnstone.`.
    pub extra: BTreeMap<String, String>,
}

/// Why a valid checkpoint does not fit a game.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MismatchError {
    /// The checkpoint is for another game.
    #[error("the checkpoint is for the game `{found}`, not `{expected}`")]
    Game {
        /// The checkpoint's game.
        found: String,
        /// The expected game.
        expected: String,
    },
    /// The checkpoint is for another version of the game.
    #[error("the checkpoint is for version {found} of `{game}`, not version {expected}")]
    Version {
        /// The game.
        game: String,
        /// The checkpoint's version.
        found: u32,
        /// The expected version.
        expected: u32,
    },
    /// The checkpoint is for other parameters of the game.
    #[error("the checkpoint is for `{game}` with {differences}")]
    Params {
        /// The game.
        game: String,
        /// The parameters that differ, each with both values: `size=6, not 8`.
        differences: String,
    },
    /// The network uses the board, and the boards differ.
    #[error("the checkpoint's network was made for another board than that of the game `{0}`")]
    Board(String),
    /// The numbers of inputs or actions differ.
    #[error("the checkpoint has {} inputs and {} actions, the game `{game}` {} and {}",
        found[0], found[1], expected[0], expected[1])]
    Shape {
        /// The game.
        game: String,
        /// The checkpoint's inputs and actions.
        found: [usize; 2],
        /// The expected inputs and actions.
        expected: [usize; 2],
    },
}

impl CheckpointInfo {
    /// Creates the metadata of weights after `step` training steps, without `extra` entries.
    pub fn new(
        game: &str,
        game_version: u32,
        params: CheckpointParams,
        network: NetworkConfig,
        shape: Shape,
        step: u64,
    ) -> Self {
        CheckpointInfo {
            game: game.into(),
            game_version,
            params,
            shape,
            network,
            step,
            created_by: LIBRARY.into(),
            extra: BTreeMap::new(),
        }
    }

    /// Checks that the checkpoint fits a game.
    ///
    /// # Errors
    /// The first of name, version, parameters, sizes and board that differs.
    pub fn expect(
        &self,
        game: &str,
        version: u32,
        params: &CheckpointParams,
        shape: &Shape,
    ) -> Result<(), MismatchError> {
        if self.game != game {
            return Err(MismatchError::Game { found: self.game.clone(), expected: game.into() });
        }
        let game = self.game.clone();
        if self.game_version != version {
            return Err(MismatchError::Version { game, found: self.game_version, expected: version });
        }
        if self.params != *params {
            return Err(MismatchError::Params { game, differences: differences(&self.params, params) });
        }
        let (found, expected) = (self.shape.sizes(), shape.sizes());
        if found != expected {
            return Err(MismatchError::Shape { game, found, expected });
        }
        if !self.network.fits(&self.shape, shape) {
            return Err(MismatchError::Board(game));
        }
        Ok(())
    }

    /// The entries of the file by key.
    pub(crate) fn to_metadata(&self) -> Result<BTreeMap<String, String>, Fault> {
        if let Some(key) = self.extra.keys().find(|key| key.starts_with(PREFIX)) {
            return Err(Fault::ReservedKey(key.clone()));
        }
        let mut metadata = self.extra.clone();
        let ours = [
            (GAME, self.game.clone()),
            (GAME_VERSION, self.game_version.to_string()),
            (PARAMS, json(&self.params)),
            (NETWORK, json(&self.network)),
            (INPUTS, self.shape.inputs.to_string()),
            (ACTIONS, self.shape.actions.to_string()),
            (BOARD, json(&self.shape.board)),
            (STEP, self.step.to_string()),
            (CREATED_BY, self.created_by.clone()),
        ];
        metadata.extend(ours.map(|(key, value)| (key.to_owned(), value)));
        Ok(metadata)
    }

    /// Unknown keys that begin with `turnstone.` are dropped; other keys become `extra`.
    fn from_metadata(mut metadata: BTreeMap<String, String>) -> Result<CheckpointInfo, Fault> {
        let info = CheckpointInfo {
            game: take(&mut metadata, GAME)?,
            game_version: take_json(&mut metadata, GAME_VERSION)?,
            params: take_json(&mut metadata, PARAMS)?,
            network: take_json(&mut metadata, NETWORK)?,
            shape: Shape {
                inputs: take_json(&mut metadata, INPUTS)?,
                actions: take_json(&mut metadata, ACTIONS)?,
                board: take_json(&mut metadata, BOARD)?,
            },
            step: take_json(&mut metadata, STEP)?,
            created_by: take(&mut metadata, CREATED_BY)?,
            extra: BTreeMap::new(),
        };
        metadata.retain(|key, _| !key.starts_with(PREFIX));
        Ok(CheckpointInfo { extra: metadata, ..info })
    }
}

/// Writes a checkpoint with [`atomic_write`](turnstone_base::files::atomic_write). Equal contents give equal files.
///
/// # Errors
/// The weights are not those of the network of `info`, `extra` has a reserved key, or the file cannot be written.
pub fn save(path: &Path, info: &CheckpointInfo, weights: &Weights) -> Result<(), CheckpointError> {
    let metadata = checked(info, weights).map_err(|fault| CheckpointError { path: path.into(), fault })?;
    tensor_file::write(path, KIND, metadata, weights.tensors())
}

/// The bytes that [`save`] writes, to be read by [`load_bytes`].
///
/// # Errors
/// As [`save`], but for the file.
pub fn save_bytes(info: &CheckpointInfo, weights: &Weights) -> Result<Vec<u8>, Fault> {
    tensor_file::to_bytes(KIND, checked(info, weights)?, weights.tensors())
}

/// The metadata of a checkpoint with these weights.
fn checked(info: &CheckpointInfo, weights: &Weights) -> Result<BTreeMap<String, String>, Fault> {
    weights.check(&info.network.layout(&info.shape)?)?;
    info.to_metadata()
}

/// Reads a checkpoint. Its weights are finite and exactly those of the network in its metadata.
///
/// # Errors
/// The file cannot be read or is not a valid checkpoint. The message is one line with the file and its first fault.
pub fn load(path: &Path) -> Result<(CheckpointInfo, Weights), CheckpointError> {
    tensor_file::read(path, KIND, parse)
}

/// Reads a checkpoint from the bytes of a file in memory. Errors show `name` instead of the file.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(bytes: &[u8], name: &Path) -> Result<(CheckpointInfo, Weights), CheckpointError> {
    tensor_file::read_bytes(bytes, name, KIND, parse)
}

fn parse(contents: Contents) -> Result<(CheckpointInfo, Weights), Fault> {
    let info = CheckpointInfo::from_metadata(contents.metadata)?;
    let weights = Weights::new(&info.network.layout(&info.shape)?, contents.tensors)?;
    Ok((info, weights))
}

/// The parameters that differ between a checkpoint and a game, in the order of their names.
fn differences(found: &CheckpointParams, expected: &CheckpointParams) -> String {
    let mut keys: Vec<&String> = found.keys().chain(expected.keys()).collect();
    keys.sort();
    keys.dedup();
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let difference = |key: &String| match (found.get(key), expected.get(key)) {
        (found, expected) if found == expected => None,
        (Some(found), Some(expected)) => Some(format!("{key}={}, not {}", text(found), text(expected))),
        (Some(found), None) => Some(format!("{key}={}, which the game does not have", text(found))),
        (None, expected) => Some(format!("no {key}, not {}", expected.map(text).unwrap_or_default())),
    };
    keys.into_iter().filter_map(difference).collect::<Vec<_>>().join("; ")
}

//! Checkpoints: one `.safetensors` file that holds a network's weights and says which game they play.

use std::collections::BTreeMap;
use std::path::Path;

use crate::network::NetworkConfig;
use crate::shape::{Board, Shape};
use crate::tensor_file::{self, CheckpointError, Contents, Fault, PREFIX, take, take_json};
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

/// Parameters of a game by name, a JSON object; two are equal whatever the order of their names.
pub type Params = serde_json::Map<String, serde_json::Value>;

/// What a checkpoint says about itself, in the metadata of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointInfo {
    /// The game's name.
    pub game: String,
    /// The version of the game's rules, actions and planes.
    pub game_version: u32,
    /// The game's parameters.
    pub params: Params,
    /// The network.
    pub network: NetworkConfig,
    /// Inputs, actions and board of the game.
    pub shape: Shape,
    /// Training steps behind the weights.
    pub step: u64,
    /// The program that wrote the file, with its version.
    pub created_by: String,
    /// Anything else, under keys that do not begin with `turnstone.`.
    pub extra: BTreeMap<String, String>,
}

/// Why a sound checkpoint is of no use here.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MismatchError {
    /// It plays another game.
    #[error("the checkpoint is for the game `{found}`, not `{expected}`")]
    Game {
        /// The checkpoint's game.
        found: String,
        /// The game at hand.
        expected: String,
    },
    /// The game has changed since.
    #[error("the checkpoint is for version {found} of `{game}`, not version {expected}")]
    Version {
        /// The game.
        game: String,
        /// The checkpoint's version.
        found: u32,
        /// The version at hand.
        expected: u32,
    },
    /// The game is played with other parameters.
    #[error("the checkpoint is for `{game}` with parameters {found}, not {expected}")]
    Params {
        /// The game.
        game: String,
        /// The checkpoint's parameters, as JSON.
        found: String,
        /// The parameters at hand, as JSON.
        expected: String,
    },
    /// The network looks at the board, and it is another one.
    #[error("the checkpoint's network was made for another board than that of the game `{0}`")]
    Board(String),
    /// Observations or actions have other sizes.
    #[error("the checkpoint has {} inputs and {} actions, the game `{game}` {} and {}",
        found[0], found[1], expected[0], expected[1])]
    Shape {
        /// The game.
        game: String,
        /// The checkpoint's inputs and actions.
        found: [usize; 2],
        /// The inputs and actions at hand.
        expected: [usize; 2],
    },
}

impl CheckpointInfo {
    /// Describes weights after `step` training steps, written by this version of the crate, with nothing extra.
    pub fn new(game: &str, game_version: u32, params: Params, network: NetworkConfig, shape: Shape, step: u64) -> Self {
        CheckpointInfo {
            game: game.into(),
            game_version,
            params,
            network,
            shape,
            step,
            created_by: concat!("turnstone ", env!("CARGO_PKG_VERSION")).into(),
            extra: BTreeMap::new(),
        }
    }

    /// Confirms that the checkpoint is for this game.
    ///
    /// # Errors
    /// The first of name, version, parameters and shape that differs.
    pub fn expect(&self, game: &str, version: u32, params: &Params, shape: &Shape) -> Result<(), MismatchError> {
        if self.game != game {
            return Err(MismatchError::Game { found: self.game.clone(), expected: game.into() });
        }
        let game = self.game.clone();
        if self.game_version != version {
            return Err(MismatchError::Version { game, found: self.game_version, expected: version });
        }
        if self.params != *params {
            return Err(MismatchError::Params { game, found: json(&self.params), expected: json(params) });
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

    /// What the file says, by key.
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

    /// Keys of ours that this version does not know are dropped; those of others become `extra`.
    fn from_metadata(mut metadata: BTreeMap<String, String>) -> Result<CheckpointInfo, Fault> {
        let info = CheckpointInfo {
            game: take(&mut metadata, GAME)?,
            game_version: take_json(&mut metadata, GAME_VERSION)?,
            params: take_json(&mut metadata, PARAMS)?,
            network: take_json(&mut metadata, NETWORK)?,
            shape: Shape {
                inputs: take_json(&mut metadata, INPUTS)?,
                actions: take_json(&mut metadata, ACTIONS)?,
                board: take_board(&mut metadata)?,
            },
            step: take_json(&mut metadata, STEP)?,
            created_by: take(&mut metadata, CREATED_BY)?,
            extra: BTreeMap::new(),
        };
        metadata.retain(|key, _| !key.starts_with(PREFIX));
        Ok(CheckpointInfo { extra: metadata, ..info })
    }
}

/// The board; files that were written before networks knew it have none, and their networks need none.
fn take_board(metadata: &mut BTreeMap<String, String>) -> Result<Board, Fault> {
    if metadata.contains_key(BOARD) { take_json(metadata, BOARD) } else { Ok(Board::default()) }
}

pub(crate) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data with string keys is JSON")
}

/// Writes a checkpoint atomically: see [`atomic_write`](crate::atomic_write). Equal contents make equal files.
///
/// # Errors
/// Weights that are not those of `info`'s network, a reserved key in `extra`, or a file that cannot be written.
pub fn save(path: &Path, info: &CheckpointInfo, weights: &Weights) -> Result<(), CheckpointError> {
    let metadata = || -> Result<_, Fault> {
        weights.check(&info.network.layout(&info.shape)?)?;
        info.to_metadata()
    };
    let metadata = metadata().map_err(|fault| CheckpointError { path: path.into(), fault })?;
    tensor_file::write(path, KIND, metadata, weights.tensors())
}

/// Reads a checkpoint: finite weights of exactly the network that its metadata describes.
///
/// # Errors
/// One line that names the file and its first fault, whatever the file holds.
pub fn load(path: &Path) -> Result<(CheckpointInfo, Weights), CheckpointError> {
    tensor_file::read(path, KIND, parse)
}

/// As [`load`], from a file's bytes in memory; errors name them by `name`.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(bytes: &[u8], name: &Path) -> Result<(CheckpointInfo, Weights), CheckpointError> {
    tensor_file::read_bytes(bytes, name, KIND, parse)
}

fn parse((metadata, tensors): Contents) -> Result<(CheckpointInfo, Weights), Fault> {
    let info = CheckpointInfo::from_metadata(metadata)?;
    let weights = Weights::new(&info.network.layout(&info.shape)?, tensors)?;
    Ok((info, weights))
}

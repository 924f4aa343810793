//! Safetensors files of ours: metadata and `f32` tensors to bytes and back, with every fault named.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};

use crate::files::{atomic_write, read_whole};
use crate::network::NetworkError;
use crate::weights::{NamedTensor, WeightsError};

/// The version of the files that this crate writes, and the only one that it reads.
pub(crate) const FORMAT: &str = "1";
/// Every key of ours begins like this; all other keys of the metadata belong to the caller.
pub(crate) const PREFIX: &str = "turnstone.";
pub(crate) const FORMAT_KEY: &str = "turnstone.format";
pub(crate) const KIND_KEY: &str = "turnstone.kind";

/// What went wrong with which file; one line of text.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct CheckpointError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What can be wrong with a checkpoint or a learner's state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The bytes are not a whole safetensors file.
    #[error("not a complete safetensors file ({0})")]
    NotSafetensors(#[from] SafeTensorError),
    /// The metadata lacks a key, so that the file is not one of ours.
    #[error("not a turnstone file: its metadata has no `{0}`")]
    MissingKey(&'static str),
    /// The file was written by another version of the program.
    #[error("format version `{0}` is not supported, only `{FORMAT}` is")]
    Format(String),
    /// A learner's state where a checkpoint was expected, or the other way round.
    #[error("this is a `{found}` file, not a `{expected}` file")]
    Kind {
        /// What the file says it is.
        found: String,
        /// What it was read as.
        expected: &'static str,
    },
    /// A key of the metadata has a value that cannot be understood.
    #[error("metadata `{key}` is not valid: {reason}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// A key among the caller's own that would be taken for one of ours.
    #[error("the metadata key `{0}` is reserved")]
    ReservedKey(String),
    /// A tensor holds other numbers than `f32`.
    #[error("tensor `{name}` holds {found}, not F32")]
    Dtype {
        /// The tensor's name.
        name: String,
        /// The type of its numbers.
        found: String,
    },
    /// The network in the metadata cannot be built, or the tensors are not its own.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

impl From<WeightsError> for Fault {
    fn from(error: WeightsError) -> Fault {
        Fault::Network(NetworkError::Weights(error))
    }
}

/// Metadata and tensors of one file.
pub(crate) type Contents = (BTreeMap<String, String>, Vec<NamedTensor>);

/// Writes a file of this kind atomically.
pub(crate) fn write(
    path: &Path,
    kind: &'static str,
    mut metadata: BTreeMap<String, String>,
    tensors: &[NamedTensor],
) -> Result<(), CheckpointError> {
    metadata.insert(FORMAT_KEY.into(), FORMAT.into());
    metadata.insert(KIND_KEY.into(), kind.into());
    let written = encode(metadata, tensors).and_then(|bytes| Ok(atomic_write(path, &bytes)?));
    written.map_err(|fault| CheckpointError { path: path.into(), fault })
}

/// Reads a file and hands its contents to `parse`; the error of either names the file.
pub(crate) fn read<T>(
    path: &Path,
    kind: &'static str,
    parse: impl FnOnce(Contents) -> Result<T, Fault>,
) -> Result<T, CheckpointError> {
    let bytes = read_whole(path).map_err(|e| CheckpointError { path: path.into(), fault: Fault::Io(e) })?;
    read_bytes(&bytes, path, kind, parse)
}

/// As [`read`], from bytes in memory; errors name them by `name`.
pub(crate) fn read_bytes<T>(
    bytes: &[u8],
    name: &Path,
    kind: &'static str,
    parse: impl FnOnce(Contents) -> Result<T, Fault>,
) -> Result<T, CheckpointError> {
    decode(bytes, kind).and_then(parse).map_err(|fault| CheckpointError { path: name.into(), fault })
}

/// Takes a key of ours out of the metadata.
pub(crate) fn take(metadata: &mut BTreeMap<String, String>, key: &'static str) -> Result<String, Fault> {
    metadata.remove(key).ok_or(Fault::MissingKey(key))
}

/// Takes a key of ours out of the metadata and reads its value as JSON; numbers are JSON too.
pub(crate) fn take_json<T: serde::de::DeserializeOwned>(
    metadata: &mut BTreeMap<String, String>,
    key: &'static str,
) -> Result<T, Fault> {
    let text = take(metadata, key)?;
    serde_json::from_str(&text).map_err(|error| Fault::BadValue { key, reason: error.to_string() })
}

fn encode(metadata: BTreeMap<String, String>, tensors: &[NamedTensor]) -> Result<Vec<u8>, Fault> {
    let bytes: Vec<Vec<u8>> =
        tensors.iter().map(|tensor| tensor.data.iter().flat_map(|x| x.to_le_bytes()).collect()).collect();
    let mut views = Vec::with_capacity(tensors.len());
    for (tensor, bytes) in tensors.iter().zip(&bytes) {
        views.push((&tensor.name, TensorView::new(Dtype::F32, tensor.shape.clone(), bytes)?));
    }
    let metadata: HashMap<String, String> = metadata.into_iter().collect();
    let file = safetensors::serialize(views, Some(metadata))?;
    Ok(with_sorted_metadata(file))
}

/// Puts the keys of the metadata in alphabetical order. The crate writes them in the random order of a hash map,
/// and equal contents should make equal files. Nothing changes its length.
fn with_sorted_metadata(mut file: Vec<u8>) -> Vec<u8> {
    let (length, rest) = file.split_first_chunk_mut::<8>().expect("a file begins with the length of its header");
    let header = &mut rest[..u64::from_le_bytes(*length) as usize];
    let mut parsed: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(header).expect("the header has just been written as a JSON object");
    if let Some(metadata) = parsed.get_mut("__metadata__").and_then(serde_json::Value::as_object_mut) {
        metadata.sort_keys();
    }
    let sorted = serde_json::to_vec(&parsed).expect("maps of strings and numbers are JSON");
    let (text, padding) = header.split_at_mut(sorted.len());
    text.copy_from_slice(&sorted);
    padding.fill(b' ');
    file
}

fn decode(bytes: &[u8], kind: &'static str) -> Result<Contents, Fault> {
    let (_, header) = SafeTensors::read_metadata(bytes)?;
    let mut metadata: BTreeMap<String, String> =
        header.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    let format = take(&mut metadata, FORMAT_KEY)?;
    if format != FORMAT {
        return Err(Fault::Format(format));
    }
    let found = take(&mut metadata, KIND_KEY)?;
    if found != kind {
        return Err(Fault::Kind { found, expected: kind });
    }
    let file = SafeTensors::deserialize(bytes)?;
    let mut tensors = Vec::new();
    // In the order of the file, so that of several faults it is always the same one that is reported.
    for name in header.offset_keys() {
        let view = file.tensor(&name)?;
        if view.dtype() != Dtype::F32 {
            return Err(Fault::Dtype { name, found: view.dtype().to_string() });
        }
        let (numbers, _) = view.data().as_chunks::<4>();
        let data = numbers.iter().map(|&x| f32::from_le_bytes(x)).collect();
        tensors.push(NamedTensor { name, shape: view.shape().to_vec(), data });
    }
    Ok((metadata, tensors))
}

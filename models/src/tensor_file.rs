//! Reading and writing safetensors files with metadata and `f32` tensors.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};

use safetensors::tensor::{Metadata, TensorView};
use safetensors::{Dtype, SafeTensorError, SafeTensors};
use turnstone_base::files::{atomic_write, open_bounded};

use crate::error::NetworkError;
use crate::weights::{NamedTensor, WeightsError};

/// The format version of files that this crate writes, and the only one that it reads.
pub(crate) const FORMAT: &str = "1";
/// Prefix of reserved keys; all other keys of the metadata belong to the caller.
pub(crate) const PREFIX: &str = "turnstone.";
pub(crate) const FORMAT_KEY: &str = "turnstone.format";
pub(crate) const KIND_KEY: &str = "turnstone.kind";
/// Maximum length of a checkpoint or state to read, far above that of any network of this crate.
const LONGEST_FILE: u64 = 1 << 31;
/// Maximum length of a header to read, far above that of any file of this crate.
const LONGEST_HEADER: u64 = 1 << 24;
/// CRC-32 of everything else in the file, in hexadecimal.
const CHECKSUM_KEY: &str = "turnstone.checksum";

/// A file and its fault, displayed as one line.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct CheckpointError {
    /// The file.
    pub path: PathBuf,
    /// The fault.
    pub fault: Fault,
}

/// The fault of a checkpoint or of the file of a learner's state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file is not a complete safetensors file.
    #[error("not a complete safetensors file ({0})")]
    NotSafetensors(#[from] SafeTensorError),
    /// A key of the metadata is missing.
    #[error("not a turnstone file: its metadata has no `{0}`")]
    MissingKey(&'static str),
    /// The format version is not supported.
    #[error("format version `{0}` is not supported, only `{FORMAT}` is")]
    Format(String),
    /// The file is a learner's state instead of a checkpoint, or the other way round.
    #[error("this is a `{found}` file, not a `{expected}` file")]
    Kind {
        /// The kind of the file.
        found: String,
        /// The expected kind.
        expected: &'static str,
    },
    /// The value of a key of the metadata is not valid.
    #[error("metadata `{key}` is not valid: {reason}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// The fault of its value.
        reason: String,
    },
    /// A key of the caller has the reserved prefix.
    #[error("the metadata key `{0}` is reserved")]
    ReservedKey(String),
    /// The contents do not fit the checksum.
    #[error("its checksum does not fit its contents: the file is damaged or was changed")]
    Checksum,
    /// The elements of a tensor are not `f32`.
    #[error("tensor `{name}` holds {found}, not F32")]
    Dtype {
        /// The tensor's name.
        name: String,
        /// The type of its elements.
        found: String,
    },
    /// The contents are well formed, but nothing that this crate does leads to them.
    #[error("{0}")]
    Forged(String),
    /// The network in the metadata cannot be built, or the tensors are not its parameters.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

impl From<WeightsError> for Fault {
    fn from(error: WeightsError) -> Fault {
        Fault::Network(NetworkError::Weights(error))
    }
}

/// Metadata and tensors of a file.
pub(crate) struct Contents {
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) tensors: Vec<NamedTensor>,
}

/// Writes a file of this kind atomically.
pub(crate) fn write(
    path: &Path,
    kind: &'static str,
    metadata: BTreeMap<String, String>,
    tensors: &[NamedTensor],
) -> Result<(), CheckpointError> {
    let written = to_bytes(kind, metadata, tensors).and_then(|bytes| Ok(atomic_write(path, &bytes)?));
    written.map_err(|fault| CheckpointError { path: path.into(), fault })
}

/// The bytes of such a file.
pub(crate) fn to_bytes(
    kind: &'static str,
    mut metadata: BTreeMap<String, String>,
    tensors: &[NamedTensor],
) -> Result<Vec<u8>, Fault> {
    metadata.insert(FORMAT_KEY.into(), FORMAT.into());
    metadata.insert(KIND_KEY.into(), kind.into());
    metadata.insert(CHECKSUM_KEY.into(), checksum(&metadata, tensors));
    encode(metadata, tensors)
}

/// Reads a file and passes its contents to `parse`. Errors name the file.
pub(crate) fn read<T>(
    path: &Path,
    kind: &'static str,
    parse: impl FnOnce(Contents) -> Result<T, Fault>,
) -> Result<T, CheckpointError> {
    let bytes = read_whole(path).map_err(|fault| CheckpointError { path: path.into(), fault })?;
    read_bytes(&bytes, path, kind, parse)
}

/// Reads a file whose header promises its length. Nothing but the header is read of any other.
fn read_whole(path: &Path) -> Result<Vec<u8>, Fault> {
    let (mut file, length) = open_bounded(path, LONGEST_FILE)?;
    let mut bytes = Vec::new();
    file.by_ref().take(8).read_to_end(&mut bytes)?;
    let &header = bytes.first_chunk::<8>().ok_or(SafeTensorError::HeaderTooSmall)?;
    let header = u64::from_le_bytes(header);
    if header > LONGEST_HEADER {
        return Err(SafeTensorError::HeaderTooLarge.into());
    }
    file.by_ref().take(header).read_to_end(&mut bytes)?;
    let parsed: Metadata =
        serde_json::from_slice(&bytes[8..]).map_err(SafeTensorError::InvalidHeaderDeserialization)?;
    let promised = (8 + header).checked_add(parsed.data_len() as u64);
    if promised != Some(length) {
        return Err(SafeTensorError::MetadataIncompleteBuffer.into());
    }
    bytes.reserve_exact(parsed.data_len());
    file.take(parsed.data_len() as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Does the same as [`read`] for bytes in memory. Errors show `name` instead of the file.
pub(crate) fn read_bytes<T>(
    bytes: &[u8],
    name: &Path,
    kind: &'static str,
    parse: impl FnOnce(Contents) -> Result<T, Fault>,
) -> Result<T, CheckpointError> {
    decode(bytes, kind).and_then(parse).map_err(|fault| CheckpointError { path: name.into(), fault })
}

/// Removes a key from the metadata and returns its value.
pub(crate) fn take(metadata: &mut BTreeMap<String, String>, key: &'static str) -> Result<String, Fault> {
    metadata.remove(key).ok_or(Fault::MissingKey(key))
}

/// Removes a key from the metadata and parses its value as JSON. Numbers are JSON too.
pub(crate) fn take_json<T: serde::de::DeserializeOwned>(
    metadata: &mut BTreeMap<String, String>,
    key: &'static str,
) -> Result<T, Fault> {
    let text = take(metadata, key)?;
    // In two steps, so that only the fault of a text that is no JSON names a line and a column.
    let value = serde_json::from_str::<serde_json::Value>(&text).and_then(serde_json::from_value);
    value.map_err(|error| Fault::BadValue { key, reason: error.to_string() })
}

/// Writes a value as JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data with string keys is JSON")
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

/// Sorts the keys of the metadata, which `safetensors` writes in the random order of a hash map, so that equal contents
/// give equal files. The length of the header stays the same.
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

/// The checksum of a file: over the other entries of the metadata by key, then over the tensors by name. It does not
/// depend on the order in which a file holds them.
fn checksum(metadata: &BTreeMap<String, String>, tensors: &[NamedTensor]) -> String {
    let mut crc = crc32fast::Hasher::new();
    let text = |crc: &mut crc32fast::Hasher, text: &str| {
        crc.update(&(text.len() as u64).to_le_bytes());
        crc.update(text.as_bytes());
    };
    for (key, value) in metadata {
        text(&mut crc, key);
        text(&mut crc, value);
    }
    let mut by_name: Vec<&NamedTensor> = tensors.iter().collect();
    by_name.sort_by(|a, b| a.name.cmp(&b.name));
    for tensor in by_name {
        text(&mut crc, &tensor.name);
        tensor.shape.iter().for_each(|&size| crc.update(&(size as u64).to_le_bytes()));
        tensor.data.iter().for_each(|number| crc.update(&number.to_le_bytes()));
    }
    format!("{:08x}", crc.finalize())
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
    // In the order of the file, so that the first of several faults is reported.
    for name in header.offset_keys() {
        let view = file.tensor(&name)?;
        if view.dtype() != Dtype::F32 {
            return Err(Fault::Dtype { name, found: view.dtype().to_string() });
        }
        let (numbers, _) = view.data().as_chunks::<4>();
        let data = numbers.iter().map(|&x| f32::from_le_bytes(x)).collect();
        tensors.push(NamedTensor { name, shape: view.shape().to_vec(), data });
    }
    metadata.insert(FORMAT_KEY.into(), format);
    metadata.insert(KIND_KEY.into(), found);
    if take(&mut metadata, CHECKSUM_KEY)? != checksum(&metadata, &tensors) {
        return Err(Fault::Checksum);
    }
    metadata.retain(|key, _| key != FORMAT_KEY && key != KIND_KEY);
    Ok(Contents { metadata, tensors })
}

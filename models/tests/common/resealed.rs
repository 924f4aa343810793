//! A tensor file with a checksum that fits what it contains.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

const CHECKSUM: &str = "turnstone.checksum";

/// The file with the checksum of its metadata and tensors. What is no safetensors file with metadata stays as it is.
pub(crate) fn resealed(file: &[u8]) -> Vec<u8> {
    with_checksum(file).unwrap_or_else(|| file.to_vec())
}

fn with_checksum(file: &[u8]) -> Option<Vec<u8>> {
    let (length, rest) = file.split_first_chunk::<8>()?;
    let (header, data) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let mut header: Map<String, Value> = serde_json::from_slice(header).ok()?;
    let checksum = {
        let mut crc = crc32fast::Hasher::new();
        let text = |crc: &mut crc32fast::Hasher, text: &str| {
            crc.update(&(text.len() as u64).to_le_bytes());
            crc.update(text.as_bytes());
        };
        let metadata = header.get("__metadata__")?.as_object()?;
        for (key, value) in metadata.iter().filter(|(key, _)| *key != CHECKSUM).collect::<BTreeMap<_, _>>() {
            text(&mut crc, key);
            text(&mut crc, value.as_str()?);
        }
        for (name, tensor) in header.iter().filter(|(name, _)| *name != "__metadata__").collect::<BTreeMap<_, _>>() {
            text(&mut crc, name);
            let sizes = |key: &str| tensor.get(key)?.as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<_>>>();
            sizes("shape")?.iter().for_each(|size| crc.update(&size.to_le_bytes()));
            let [start, end] = <[u64; 2]>::try_from(sizes("data_offsets")?).ok()?;
            crc.update(data.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)?);
        }
        format!("{:08x}", crc.finalize())
    };
    header.get_mut("__metadata__")?.as_object_mut()?.insert(CHECKSUM.to_owned(), checksum.into());
    let header = serde_json::to_vec(&header).ok()?;
    Some([&(header.len() as u64).to_le_bytes()[..], &header, data].concat())
}

//! Frames of bytes with a checksum: `TSC1`, the length of a JSON header (u32), the header, other bytes, and a CRC-32 of all
//! that.

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 4] = b"TSC1";

/// Joins a header and other bytes, with their checksum.
pub(crate) fn framed(header: &impl Serialize, rest: &[u8]) -> Vec<u8> {
    let header = serde_json::to_vec(header).expect("a header of plain fields can be written");
    let mut bytes = [&MAGIC[..], &(header.len() as u32).to_le_bytes(), &header, rest].concat();
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// The header of framed bytes, and what follows it.
pub(crate) fn unframed<H: DeserializeOwned>(bytes: &[u8]) -> Result<(H, &[u8])> {
    let (framed, checksum) = bytes.split_last_chunk().context("it is cut short")?;
    ensure!(crc32fast::hash(framed) == u32::from_le_bytes(*checksum), "its checksum is not of its contents");
    let rest = framed.strip_prefix(MAGIC).context("it is of another kind or version")?;
    let (length, rest) = rest.split_first_chunk().context("it is cut short")?;
    let (header, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).context("it is cut short")?;
    Ok((serde_json::from_slice(header).context("its header")?, rest))
}

/// SHA-256 as lower-case hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

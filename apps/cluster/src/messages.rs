//! Messages between leader and workers, and the streams and subjects that they are on.

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The work queue: each job is delivered until a worker acknowledges it.
pub(crate) const JOBS: &str = "TURNSTONE_JOBS";
/// Results: each is kept until the leader no longer needs it.
pub(crate) const RESULTS: &str = "TURNSTONE_RESULTS";
/// Key-value bucket with the work of each run, in pieces under `<run>.<number>`.
pub(crate) const WORK: &str = "turnstone_work";
/// Key-value bucket with a key per run, which its leader renews; the value is a [`RunStatus`](crate::status::RunStatus).
pub(crate) const LEADERS: &str = "turnstone_leaders";

/// Some items of a work, to be played by one worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    /// SHA-256 of the work, and the number of pieces in which it is stored.
    pub(crate) work: String,
    pub(crate) pieces: usize,
    /// Number of the first item, and of all items.
    pub(crate) first: usize,
    pub(crate) count: usize,
}

/// An item as a worker has played it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Played {
    /// SHA-256 of the work.
    pub work: String,
    /// Number of the item; the first one of a job that failed as a whole.
    pub item: usize,
    /// Name of the worker, and the number of its threads.
    pub worker: (String, usize),
    /// How often its job was delivered, if the item is the job's last one.
    pub deliveries: Option<u64>,
    /// Why the item cannot be played.
    pub failed: Option<String>,
    /// The record of a game, or the answer to a position.
    #[serde(with = "serde_bytes")]
    pub outcome: Vec<u8>,
}

impl Played {
    /// Encodes the message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// It is damaged or malformed.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        decode(bytes)
    }
}

const MAGIC: &[u8; 4] = b"TSC1";

/// Encodes a message: `TSC1`, the value in CBOR, and a CRC-32.
pub(crate) fn encode(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    ciborium::into_writer(value, &mut bytes).expect("a value of plain fields can be written");
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// Decodes a message.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let (message, checksum) = bytes.split_last_chunk().context("it is cut short")?;
    ensure!(crc32fast::hash(message) == u32::from_le_bytes(*checksum), "its checksum is not of its contents");
    Ok(ciborium::from_reader(message.strip_prefix(MAGIC).context("it is of another kind or version")?)?)
}

/// SHA-256 as lower-case hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Whether a text can name a worker or a run, and thus be a part of a subject.
pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(is_part)
}

/// Subject of a run's jobs.
pub(crate) fn job_subject(run: &str) -> String {
    format!("turnstone.job.{run}")
}

/// Subject of a worker's results for a run.
pub(crate) fn result_subject(run: &str, worker: &str) -> String {
    format!("turnstone.result.{run}.{worker}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_as_they_were_or_are_refused() {
        let played = Played { work: "ab".into(), item: 7, outcome: vec![1, 2, 3], ..Played::default() };
        let sound = played.encode();
        assert_eq!(Played::decode(&sound).expect("sound"), played);
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            assert!(Played::decode(&damaged).is_err() && Played::decode(&sound[..at]).is_err(), "byte {at}");
        }
    }

    #[test]
    fn names_are_parts_of_subjects() {
        assert!(is_name("host-1_a") && !["", "a.b", "a b", ">", "*", "é"].into_iter().any(is_name));
    }
}

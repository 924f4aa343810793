//! Messages between leader and workers, and the streams and subjects that they are on.

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use sha2::{Digest, Sha256};

/// The work queue: each job is delivered until a worker acknowledges it.
pub(crate) const JOBS: &str = "TURNSTONE_JOBS";
/// Results: each is kept until the leader no longer needs it.
pub(crate) const RESULTS: &str = "TURNSTONE_RESULTS";
/// Key-value bucket with the work of each run, in pieces under `<run>.<number>`.
pub(crate) const WORK: &str = "turnstone_work";
/// Key-value bucket with a key per run, which its leader renews; the value is a [`RunStatus`](turnstone_arena::RunStatus).
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

/// Number of an item, with the record of a game or the answer to a position, or why it cannot be played.
pub(crate) type Item = (usize, Result<ByteBuf, String>);

/// Items of a job as a worker has played them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Played {
    /// SHA-256 of the work.
    pub work: String,
    /// Name of the worker, and the number of its threads.
    pub worker: (String, usize),
    /// How often the job was delivered, if these are its last items.
    pub deliveries: Option<u64>,
    /// The items. A job that fails as a whole has its first one here.
    pub items: Vec<Item>,
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

/// Splits items among messages of at most `most` bytes of outcomes, in their order. A larger item has a message of its own.
pub(crate) fn packed(items: Vec<Item>, most: usize) -> Vec<Vec<Item>> {
    let mut messages: Vec<Vec<Item>> = Vec::new();
    let mut length = 0;
    for item in items {
        let size = BESIDE_AN_OUTCOME + item.1.as_ref().map_or_else(String::len, |outcome| outcome.len());
        match messages.last_mut() {
            Some(message) if length + size <= most => message.push(item),
            _ => {
                messages.push(vec![item]);
                length = 0;
            }
        }
        length += size;
    }
    messages
}

/// Room in a message for all of an item that is not its outcome.
const BESIDE_AN_OUTCOME: usize = 64;

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
        let items = vec![(7, Ok(ByteBuf::from(vec![1, 2, 3]))), (8, Err("it panics".into()))];
        let played = Played { work: "ab".into(), items, ..Played::default() };
        let sound = played.encode();
        assert_eq!(Played::decode(&sound).expect("sound"), played);
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            assert!(Played::decode(&damaged).is_err() && Played::decode(&sound[..at]).is_err(), "byte {at}");
        }
    }

    #[test]
    fn messages_hold_as_many_items_as_there_is_room_for() {
        let sizes = |sizes: &[usize], most| {
            let items = sizes.iter().enumerate().map(|(number, &size)| (number, Ok(ByteBuf::from(vec![0; size]))));
            let numbers = |items: Vec<Item>| items.into_iter().map(|(number, _)| number).collect::<Vec<_>>();
            packed(items.collect(), most).into_iter().map(numbers).collect::<Vec<_>>()
        };
        // Each takes 64 bytes more.
        assert_eq!(sizes(&[36, 36, 36], 200), [vec![0, 1], vec![2]]);
        assert_eq!(sizes(&[36, 137, 36, 500, 36], 200), [[0], [1], [2], [3], [4]]);
        assert!(sizes(&[], 200).is_empty());
    }

    #[test]
    fn names_are_parts_of_subjects() {
        assert!(is_name("host-1_a") && !["", "a.b", "a b", ">", "*", "é"].into_iter().any(is_name));
    }
}

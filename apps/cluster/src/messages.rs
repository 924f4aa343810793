//! Messages between leader and workers, besides jobs, with their subjects and streams on the server.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use turnstone_env::Params;

use crate::probe::Probe;
use crate::wire::{Malformed, Reader, hex, put_blob, unsealed};

/// Maximum length of a worker's or run's name.
const LONGEST_NAME: usize = 64;
/// Maximum length of a reason, and of a stage.
pub(crate) const LONGEST_REASON: usize = 400;
/// Maximum number of refusals in a heartbeat, which is one message.
pub(crate) const MOST_REFUSALS: usize = 50;
/// Maximum number of items of a range.
pub(crate) const MOST_IN_RANGE: usize = 4096;

/// Version of all messages; leaders and workers of other versions refuse each other.
pub const PROTOCOL: u32 = 3;

/// Stream of ranges to play: each is delivered until a worker acknowledges it.
pub(crate) const WORK: &str = "TURNSTONE_WORK";
/// Stream of results: each is kept until the leader has it on disk.
pub(crate) const RESULTS: &str = "TURNSTONE_RESULTS";
/// Stream of jobs, in pieces on the subject of the job's SHA-256. Stream and subjects are named like those of an object store,
/// for the permissions that servers have.
pub(crate) const JOBS: &str = "OBJ_turnstone";

pub(crate) const ALL_WORK: &str = "turnstone.work.*";
pub(crate) const ALL_RESULTS: &str = "turnstone.result.*.*";
pub(crate) const ALL_JOBS: &str = "$O.turnstone.C.*";
pub(crate) const ALL_RUNS: &str = "turnstone.run.*";
pub(crate) const ALL_WORKERS: &str = "turnstone.worker.*";

const RANGE_MAGIC: [u8; 4] = *b"TSW2";
const RESULTS_MAGIC: [u8; 4] = *b"TSR2";

/// Some items of a job to be played by one worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// SHA-256 of the job.
    pub job: [u8; 32],
    /// Number of the first item.
    pub first: u32,
    /// Number of items.
    pub count: u16,
    /// Number of items that a thread should play at a time, so that the job spreads over all workers.
    pub seats: u16,
}

impl Range {
    /// Encodes the message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = RANGE_MAGIC.to_vec();
        bytes.extend(self.job);
        bytes.extend(self.first.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(self.seats.to_le_bytes());
        bytes
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// It is malformed, or its range is empty or too long.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::of(bytes, RANGE_MAGIC)?;
        let (job, first, count, seats) = (reader.array()?, reader.u32()?, reader.u16()?, reader.u16()?);
        reader.end()?;
        if count == 0 || usize::from(count) > MOST_IN_RANGE || first.checked_add(u32::from(count)).is_none() {
            return Err(Malformed::new(format!("a range of {count} items from {first} is not possible")));
        }
        Ok(Self { job, first, count, seats })
    }

    /// Numbers of the items.
    #[must_use]
    pub fn numbers(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + usize::from(self.count)
    }
}

/// The effort of a worker, for display only.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Effort {
    /// Positions searched.
    pub positions: u64,
    /// Simulations.
    pub simulations: u64,
    /// Evaluations asked for, answered by the cache, merged with others of the same batch, and batches.
    pub cache: [u64; 4],
}

impl Effort {
    fn fields(&self) -> [u64; 6] {
        let [requests, hits, merged, batches] = self.cache;
        [self.positions, self.simulations, requests, hits, merged, batches]
    }
}

/// Outcomes of some items of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Results {
    /// SHA-256 of the job.
    pub job: [u8; 32],
    /// The effort.
    pub effort: Effort,
    /// Numbers and outcomes.
    pub items: Vec<(u32, Vec<u8>)>,
}

impl Results {
    /// Encodes the message, with its CRC-32 at the end.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = RESULTS_MAGIC.to_vec();
        bytes.extend(self.job);
        bytes.extend(self.effort.fields().iter().flat_map(|field| field.to_le_bytes()));
        bytes.extend((self.items.len() as u16).to_le_bytes());
        for (number, item) in &self.items {
            bytes.extend(number.to_le_bytes());
            put_blob(&mut bytes, item);
        }
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// Number of bytes of the message besides the items, each of which adds eight.
    pub(crate) const OVERHEAD: usize = 4 + 32 + 48 + 2 + 4;

    /// Decodes a message.
    ///
    /// # Errors
    /// It is damaged or malformed.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::of(unsealed(bytes)?, RESULTS_MAGIC)?;
        let job = reader.array()?;
        let mut fields = [0; 6];
        for field in &mut fields {
            *field = reader.u64()?;
        }
        let [positions, simulations, requests, hits, merged, batches] = fields;
        let effort = Effort { positions, simulations, cache: [requests, hits, merged, batches] };
        let mut items = Vec::new();
        for _ in 0..reader.u16()? {
            items.push((reader.u32()?, reader.blob()?.to_vec()));
        }
        reader.end()?;
        Ok(Self { job, effort, items })
    }
}

/// What a leader announces every second.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Announcement {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Name of the run.
    pub run: String,
    /// Program of the leader.
    pub program: String,
    /// Name of the game.
    pub game: String,
    /// Version of the game.
    pub version: u32,
    /// Parameters of the game.
    pub params: Params,
    /// The self-test of a worker's arithmetic against the leader's.
    pub probe: Probe,
    /// What is being played.
    pub stage: String,
    /// SHA-256 of the job that is being played; empty between jobs. Workers ignore ranges of other jobs.
    pub job: String,
    /// Number of items of the stage, and how many of them are missing.
    pub items: [u64; 2],
    /// Milliseconds after which a range whose worker is silent is given to another.
    pub ack_wait: u64,
    /// Whether the run is over.
    pub over: bool,
}

/// The heartbeat of a worker, once a second.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beat {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Name of the worker.
    pub worker: String,
    /// Its program.
    pub program: String,
    /// Number of threads.
    pub threads: u32,
    /// The runs that it plays for.
    pub runs: Vec<String>,
    /// Items finished and positions searched since it began.
    pub done: [u64; 2],
    /// Recent rate in positions per second.
    pub rate: f64,
    /// Items in progress or waiting here.
    pub held: u64,
    /// Finished ranges that the server has not acknowledged.
    pub unsent: u64,
    /// Runs that it cannot play for, and why.
    pub refusals: Vec<(String, String)>,
}

/// Decodes an announcement or a heartbeat.
///
/// # Errors
/// It is malformed or of another version.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Malformed> {
    #[derive(Deserialize)]
    struct Version {
        protocol: u32,
    }
    let fault = |error: serde_json::Error| Malformed::new(error.to_string());
    let Version { protocol } = serde_json::from_slice(bytes).map_err(fault)?;
    if protocol != PROTOCOL {
        return Err(Malformed::new(format!("it speaks version {protocol}, this program version {PROTOCOL}")));
    }
    serde_json::from_slice(bytes).map_err(fault)
}

/// Whether a text can name a worker or a run, and thus be a part of a subject.
pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(is_part)
}

/// Subject of a run's ranges.
pub(crate) fn work_subject(run: &str) -> String {
    format!("turnstone.work.{run}")
}

/// Subject of a worker's results for a run.
pub(crate) fn result_subject(run: &str, worker: &str) -> String {
    format!("turnstone.result.{run}.{worker}")
}

/// Subject of the pieces of a job.
pub(crate) fn job_subject(sum: &[u8; 32]) -> String {
    format!("$O.turnstone.C.{}", hex(sum))
}

/// Subject of a run's announcements.
pub(crate) fn run_subject(run: &str) -> String {
    format!("turnstone.run.{run}")
}

/// Subject of a worker's heartbeats.
pub(crate) fn worker_subject(worker: &str) -> String {
    format!("turnstone.worker.{worker}")
}

/// Prefix of the subjects on which the server answers a client.
pub(crate) fn inbox(name: &str) -> String {
    format!("_INBOX.{name}")
}

/// Whether a subject belongs to the client of this name: its heartbeats, its results, and answers to it.
pub(crate) fn is_of(subject: &str, name: &str) -> bool {
    let is_result = || subject.strip_prefix("turnstone.result.").and_then(|rest| rest.split_once('.'));
    subject == worker_subject(name)
        || is_result().is_some_and(|(_, of)| of == name)
        || subject.strip_prefix(&inbox(name)).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_as_they_were() {
        let range = Range { job: [9; 32], first: 3, count: 4, seats: 2 };
        assert_eq!(Range::decode(&range.encode()), Ok(range.clone()));
        assert!(Range::decode(&range.encode()[..43]).is_err());
        for range in [
            Range { first: u32::MAX, ..range.clone() },
            Range { count: 0, ..range.clone() },
            Range { count: 5000, ..range },
        ] {
            assert!(Range::decode(&range.encode()).is_err(), "{range:?}");
        }
        let effort = Effort { positions: 5, ..Effort::default() };
        let results = Results { job: [3; 32], effort, items: vec![(7, vec![1, 2, 3]), (9, Vec::new())] };
        let sound = results.encode();
        assert_eq!(sound.len(), Results::OVERHEAD + 2 * 8 + 3);
        assert_eq!(Results::decode(&sound), Ok(results));
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            assert!(Results::decode(&damaged).is_err() && Results::decode(&sound[..at]).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_heartbeat_of_another_version_is_refused() {
        let beat = Beat {
            protocol: PROTOCOL,
            worker: "w".into(),
            program: "p".into(),
            threads: 2,
            runs: Vec::new(),
            done: [0, 0],
            rate: 1.0,
            held: 0,
            unsent: 0,
            refusals: Vec::new(),
        };
        let again = |beat: &Beat| decode::<Beat>(&serde_json::to_vec(beat).expect("plain fields"));
        assert_eq!(again(&beat), Ok(beat.clone()));
        assert!(again(&Beat { protocol: 99, ..beat }).expect_err("a version").0.contains("version 99"));
        assert!(decode::<Beat>(b"{}").is_err() && decode::<Announcement>(b"[").is_err());
    }

    #[test]
    fn a_client_has_subjects_of_its_own() {
        assert!(is_name("host-1_a") && !["", "a.b", "a b", ">", "*", "é"].into_iter().any(is_name));
        for subject in [worker_subject("w1"), result_subject("run", "w1"), "_INBOX.w1.abc".into()] {
            assert!(is_of(&subject, "w1") && !is_of(&subject, "w"), "{subject}");
        }
        for subject in [
            work_subject("w1"),
            run_subject("w1"),
            "_INBOX.w10.abc".into(),
            result_subject("w1", "w2"),
            "$JS.API.INFO".into(),
        ] {
            assert!(!is_of(&subject, "w1"), "{subject}");
        }
    }
}

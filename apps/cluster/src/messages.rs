//! Messages between leader and workers, besides jobs, with their subjects and streams on the server. Everything that arrives is
//! decoded as if an attacker had written it.

use serde::{Deserialize, Serialize};
use turnstone_env::Params;

use crate::identity::{Identity, Key, SIGNATURE, is_signed};
use crate::probe::Probe;
use crate::wire::{Malformed, Reader, hex, is_token, put_blob, unhex};

/// Maximum length of a worker's or run's name.
pub const LONGEST_NAME: usize = 64;
/// Maximum length of an announcement or a heartbeat.
const LONGEST_JSON: usize = 256 << 10;
/// Maximum length of a program's name and version.
pub(crate) const LONGEST_PROGRAM: usize = 200;
/// Maximum length of a reason, and of a stage.
pub(crate) const LONGEST_REASON: usize = 400;
/// Maximum number of refusals in a heartbeat.
pub(crate) const MOST_REFUSALS: usize = 50;
/// Maximum number of excluded keys in an announcement.
pub(crate) const MOST_LEFT_OUT: usize = 1000;
/// Maximum number of threads of a worker.
pub(crate) const MOST_THREADS: u32 = 1024;
/// Maximum length of the outcome of one item: a game, or an answer.
pub const LONGEST_ITEM: usize = 8 << 20;
/// Maximum number of items of a range.
pub const MOST_IN_RANGE: usize = 4096;

/// Version of all messages; leaders and workers of other versions refuse each other.
pub const PROTOCOL: u32 = 2;

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

const RANGE_MAGIC: [u8; 4] = *b"TSW1";
const RESULTS_MAGIC: [u8; 4] = *b"TSR1";

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
    /// Worker that must not play it, since its own result is being checked.
    pub except: Option<Key>,
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
        bytes.extend(self.except.iter().flatten());
        bytes
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// It is malformed, or its range is empty or too long.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::of(bytes, RANGE_MAGIC)?;
        let (job, first, count, seats) = (reader.array()?, reader.u32()?, reader.u16()?, reader.u16()?);
        let except = if reader.0.is_empty() { None } else { Some(reader.array()?) };
        reader.end()?;
        if count == 0 || usize::from(count) > MOST_IN_RANGE || first.checked_add(u32::from(count)).is_none() {
            return Err(Malformed::new(format!("a range of {count} items from {first} is not possible")));
        }
        Ok(Self { job, first, count, seats, except })
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
    /// Milliseconds from the beginning of the range to its end.
    pub millis: u64,
}

impl Effort {
    fn fields(&self) -> [u64; 7] {
        let [requests, hits, merged, batches] = self.cache;
        [self.positions, self.simulations, requests, hits, merged, batches, self.millis]
    }
}

/// Outcomes of some items of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Results {
    /// Name of the worker, which is the end of the message's subject too.
    pub worker: String,
    /// The run.
    pub run: String,
    /// SHA-256 of the job.
    pub job: [u8; 32],
    /// The effort.
    pub effort: Effort,
    /// Numbers and outcomes.
    pub items: Vec<(u32, Vec<u8>)>,
}

impl Results {
    /// Encodes and signs the message.
    #[must_use]
    pub fn encode(&self, identity: &Identity) -> Vec<u8> {
        let mut body = Vec::new();
        put_blob(&mut body, self.worker.as_bytes());
        put_blob(&mut body, self.run.as_bytes());
        body.extend(self.job);
        body.extend(self.effort.fields().iter().flat_map(|field| field.to_le_bytes()));
        body.extend((self.items.len() as u16).to_le_bytes());
        for (number, item) in &self.items {
            body.extend(number.to_le_bytes());
            put_blob(&mut body, item);
        }
        let mut bytes = RESULTS_MAGIC.to_vec();
        bytes.extend(identity.key());
        bytes.extend(identity.sign(&body));
        bytes.extend(body);
        bytes
    }

    /// Number of bytes of the message besides the items, each of which adds eight.
    pub(crate) const OVERHEAD: usize = 4 + 32 + SIGNATURE + 2 * (4 + LONGEST_NAME) + 32 + 56 + 2;

    /// Decodes a message and returns the key that signed it.
    ///
    /// # Errors
    /// It is malformed, or not signed by the key in it.
    pub fn decode(bytes: &[u8]) -> Result<(Key, Self), Malformed> {
        let mut reader = Reader::of(bytes, RESULTS_MAGIC)?;
        let (key, signature) = (reader.array()?, reader.array()?);
        if !is_signed(&key, reader.0, &signature) {
            return Err(Malformed::new("its signature is not of its contents"));
        }
        let (worker, run) = (reader.token(LONGEST_NAME)?, reader.token(LONGEST_NAME)?);
        let job = reader.array()?;
        let mut fields = [0; 7];
        for field in &mut fields {
            *field = reader.u64()?;
        }
        let [positions, simulations, requests, hits, merged, batches, millis] = fields;
        let effort = Effort { positions, simulations, cache: [requests, hits, merged, batches], millis };
        let count = usize::from(reader.u16()?);
        if count > MOST_IN_RANGE {
            return Err(Malformed::new(format!("it has {count} items, more than {MOST_IN_RANGE}")));
        }
        let mut items = Vec::new();
        for _ in 0..count {
            items.push((reader.u32()?, reader.blob(LONGEST_ITEM)?.to_vec()));
        }
        reader.end()?;
        Ok((key, Self { worker, run, job, effort, items }))
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
    /// Keys of excluded workers.
    pub excluded: Vec<String>,
    /// Whether the run is over.
    pub over: bool,
}

/// The heartbeat of a worker, once a second: JSON after its signature.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beat {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Name of the worker.
    pub worker: String,
    /// Its public key.
    pub key: String,
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
    /// Finished ranges on disk that the server has not acknowledged.
    pub spooled: u64,
    /// Runs that it cannot play for, and why.
    pub refusals: Vec<(String, String)>,
}

/// Decodes an announcement.
///
/// # Errors
/// It is malformed or of another version.
pub fn decode_announcement(bytes: &[u8]) -> Result<Announcement, Malformed> {
    let announcement: Announcement = json(bytes)?;
    let Announcement { run, game, params, program, stage, job, excluded, .. } = &announcement;
    if ![run, game].iter().all(|name| is_name(name)) || params.iter().count() > 100 {
        return Err(Malformed::new("a name in it is not one"));
    }
    let is_sum = |text: &String| unhex::<32>(text).is_some();
    let keys = excluded.len() <= MOST_LEFT_OUT && excluded.iter().all(is_sum);
    if !keys || program.len() > LONGEST_PROGRAM || stage.len() > LONGEST_REASON || !(job.is_empty() || is_sum(job)) {
        return Err(Malformed::new("a field of it is out of range"));
    }
    Ok(announcement)
}

impl Beat {
    /// Encodes and signs the message.
    #[must_use]
    pub fn encode(&self, identity: &Identity) -> Vec<u8> {
        let text = serde_json::to_vec(self).expect("plain fields");
        let mut bytes = identity.sign(&text).to_vec();
        bytes.extend(text);
        bytes
    }
}

/// Decodes a heartbeat.
///
/// # Errors
/// It is malformed, of another version, or not signed by the key in it.
pub fn decode_beat(bytes: &[u8]) -> Result<Beat, Malformed> {
    let (signature, text) = bytes.split_first_chunk().ok_or_else(|| Malformed::new("it is cut short"))?;
    let beat: Beat = json(text)?;
    let names = is_name(&beat.worker)
        && beat.runs.iter().chain(beat.refusals.iter().map(|(run, _)| run)).all(|run| is_name(run));
    let lengths = beat.program.len() <= LONGEST_PROGRAM
        && beat.refusals.len() <= MOST_REFUSALS
        && beat.refusals.iter().all(|(_, why)| why.len() <= LONGEST_REASON);
    if !names || !lengths || beat.threads > MOST_THREADS || !beat.rate.is_finite() {
        return Err(Malformed::new("a field of it is out of range"));
    }
    match unhex(&beat.key) {
        Some(key) if is_signed(&key, text, signature) => Ok(beat),
        _ => Err(Malformed::new("its signature is not of its contents")),
    }
}

fn json<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, Malformed> {
    #[derive(Deserialize)]
    struct Version {
        protocol: u32,
    }
    if bytes.len() > LONGEST_JSON {
        return Err(Malformed::new(format!("it has {} bytes, more than {LONGEST_JSON}", bytes.len())));
    }
    let fault = |error: serde_json::Error| Malformed::new(error.to_string());
    let Version { protocol } = serde_json::from_slice(bytes).map_err(fault)?;
    if protocol != PROTOCOL {
        return Err(Malformed::new(format!("it speaks version {protocol}, this program version {PROTOCOL}")));
    }
    serde_json::from_slice(bytes).map_err(fault)
}

/// Whether a text can name a worker or a run.
#[must_use]
pub fn is_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME && is_token(text)
}

/// End of the name of a run that ends with its leader.
pub(crate) const ONCE: &str = "-once";

/// Whether a run of this name ends with its leader, since it has no folder.
#[must_use]
pub fn is_once(run: &str) -> bool {
    run.ends_with(ONCE)
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
    use crate::wire::cut;

    fn results() -> Results {
        let items = vec![(7, vec![1, 2, 3]), (9, Vec::new())];
        let effort = Effort { positions: 5, millis: 8, ..Effort::default() };
        Results { worker: "w".into(), run: "mancala-1f".into(), job: [3; 32], effort, items }
    }

    #[test]
    fn messages_come_back_as_they_were() {
        let range = Range { job: [9; 32], first: 3, count: 4, seats: 2, except: None };
        let check = Range { except: Some([1; 32]), ..range.clone() };
        for range in [range, check] {
            assert_eq!(Range::decode(&range.encode()), Ok(range.clone()));
            assert!(Range::decode(&range.encode()[..43]).is_err());
        }
        let identity = Identity::new().expect("a key");
        assert_eq!(Results::decode(&results().encode(&identity)), Ok((identity.key(), results())));
        assert!(results().encode(&identity).len() <= Results::OVERHEAD + 2 * 8 + 3);
    }

    #[test]
    fn a_result_belongs_to_the_key_that_signed_it() {
        let identity = Identity::new().expect("a key");
        let sound = results().encode(&identity);
        for at in 0..sound.len() {
            let mut bytes = sound.clone();
            bytes[at] ^= 1;
            assert!(Results::decode(&bytes).is_err(), "byte {at}");
        }
        for length in 0..sound.len() {
            assert!(Results::decode(&sound[..length]).is_err());
        }
        // A valid signature does not make a claim plausible.
        let items = (0..=MOST_IN_RANGE as u32).map(|number| (number, Vec::new())).collect();
        let many = Results { items, ..results() }.encode(&identity);
        assert!(Results::decode(&many).expect_err("too many").0.contains("more than"));
        let named = Results { run: "a.b".into(), ..results() }.encode(&identity);
        assert!(Results::decode(&named).expect_err("a name").0.contains("name"));
    }

    #[test]
    fn ranges_are_bounded() {
        let range = Range { job: [9; 32], first: u32::MAX, count: 4, seats: 2, except: None };
        assert!(Range::decode(&range.encode()).is_err());
        assert!(Range::decode(&Range { first: 0, count: 0, ..range.clone() }.encode()).is_err());
        assert!(Range::decode(&Range { first: 0, count: 5000, ..range }.encode()).is_err());
    }

    #[test]
    fn signs_of_life_are_signed_of_this_version_and_in_range() {
        let identity = Identity::new().expect("a key");
        let beat = Beat {
            protocol: PROTOCOL,
            worker: "w".into(),
            key: hex(&identity.key()),
            program: "p".into(),
            threads: 2,
            runs: Vec::new(),
            done: [0, 0],
            rate: 1.0,
            held: 0,
            spooled: 0,
            refusals: Vec::new(),
        };
        let decode = |beat: &Beat| decode_beat(&beat.encode(&identity));
        assert_eq!(decode(&beat), Ok(beat.clone()));
        assert!(decode(&Beat { protocol: 99, ..beat.clone() }).expect_err("v").0.contains("version 99"));
        let refusals = |run: &str, why: String, count: usize| vec![(run.to_owned(), why); count];
        let faults = [
            Beat { worker: "a b".into(), ..beat.clone() },
            Beat { program: "x".repeat(LONGEST_PROGRAM + 1), ..beat.clone() },
            Beat { program: "x".repeat(LONGEST_JSON), ..beat.clone() },
            Beat { key: "0".into(), ..beat.clone() },
            Beat { threads: MOST_THREADS + 1, ..beat.clone() },
            Beat { refusals: refusals("\u{1b}[2J", "why".into(), 1), ..beat.clone() },
            Beat { refusals: refusals("run", "x".repeat(LONGEST_REASON + 1), 1), ..beat.clone() },
            Beat { refusals: refusals("run", String::new(), MOST_REFUSALS + 1), ..beat.clone() },
        ];
        for fault in &faults {
            assert!(decode(fault).is_err(), "{fault:?}");
        }
        let foreign = Beat { key: hex(&Identity::new().expect("another").key()), ..beat.clone() };
        assert!(decode(&foreign).expect_err("another's").0.contains("signature"));
        assert!(decode_beat(&serde_json::to_vec(&beat).expect("plain fields")).is_err(), "it is not signed");
        assert!(decode_beat(b"{}").is_err() && decode_announcement(b"[").is_err());
        // The longest heartbeat of an honest worker is accepted.
        let runs = vec!["r".repeat(LONGEST_NAME); 1000];
        let why = cut(&"\u{1}".repeat(1000), LONGEST_REASON);
        let longest = Beat { runs, refusals: refusals(&"r".repeat(LONGEST_NAME), why, MOST_REFUSALS), ..beat };
        assert_eq!(decode(&longest), Ok(longest.clone()));
    }

    #[test]
    fn a_client_has_subjects_of_its_own() {
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

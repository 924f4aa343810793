//! Messages between leader and workers, and the streams and subjects that they are on.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use turnstone_env::Params;

use crate::probe::Probe;
use crate::wire::{framed, unframed};

/// The work queue: each job is delivered until a worker acknowledges it.
pub(crate) const JOBS: &str = "TURNSTONE_JOBS";
/// Results: each is kept until the leader no longer needs it.
pub(crate) const RESULTS: &str = "TURNSTONE_RESULTS";
/// Key-value bucket with the work of each run, in pieces under `<run>.<number>`.
pub(crate) const WORK: &str = "turnstone_work";
/// Key-value bucket with a key per run, which its leader renews; the value is a [`RunStatus`](crate::RunStatus).
pub(crate) const LEADERS: &str = "turnstone_leaders";

/// What a run demands of its workers: the program of its leader, the game and the self-test. It describes the run's queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) program: String,
    pub(crate) game: String,
    pub(crate) version: u32,
    pub(crate) params: Params,
    pub(crate) probe: Probe,
}

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

/// Outcomes of a job.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// SHA-256 of the work.
    pub work: String,
    /// Number of the job's first item.
    pub first: usize,
    /// Name of the worker, and the number of its threads.
    pub worker: (String, usize),
    /// How often the job was delivered.
    pub delivered: i64,
    /// Why the job cannot be played.
    pub failed: Option<String>,
    /// Work since the last results, for display only: positions, simulations; evaluations asked for, answered by the cache,
    /// merged with others of the same batch, and batches.
    pub effort: [u64; 6],
    /// Number and outcome of each item.
    #[serde(skip)]
    pub items: Vec<(usize, Vec<u8>)>,
}

impl Results {
    /// Encodes the message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let lengths: Vec<(usize, usize)> = self.items.iter().map(|(number, item)| (*number, item.len())).collect();
        let items: Vec<u8> = self.items.iter().flat_map(|(_, item)| item).copied().collect();
        framed(&(self, lengths), &items)
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// It is damaged or malformed.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let ((mut results, lengths), mut rest) = unframed::<(Self, Vec<(usize, usize)>)>(bytes)?;
        for (number, length) in lengths {
            let (item, after) = rest.split_at_checked(length).context("an item is cut short")?;
            results.items.push((number, item.to_vec()));
            rest = after;
        }
        ensure!(rest.is_empty(), "it has bytes beyond its items");
        Ok(results)
    }
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
    fn results_come_back_as_they_were_or_are_refused() {
        let items = vec![(7, vec![1, 2, 3]), (9, Vec::new())];
        let results = Results { work: "ab".into(), first: 7, effort: [5; 6], items, ..Results::default() };
        let sound = results.encode();
        assert_eq!(Results::decode(&sound).expect("sound"), results);
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            assert!(Results::decode(&damaged).is_err() && Results::decode(&sound[..at]).is_err(), "byte {at}");
        }
        for lengths in [vec![(7, 4)], vec![(7, 2)], vec![(7, usize::MAX)]] {
            let bytes = framed(&(&results, lengths), &[1, 2, 3]);
            assert!(Results::decode(&bytes).is_err());
        }
        let mut long = [&b"TSC1"[..], &u32::MAX.to_le_bytes()].concat();
        long.extend(crc32fast::hash(&long).to_le_bytes());
        assert!(unframed::<Job>(&long).expect_err("too few bytes").to_string().contains("cut short"));
    }

    #[test]
    fn names_are_parts_of_subjects() {
        assert!(is_name("host-1_a") && !["", "a.b", "a b", ">", "*", "é"].into_iter().any(is_name));
    }
}

//! The workers of a run: who is there, who has been checked, and who is left out.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::identity::Key;
use crate::messages::Beat;
use crate::wire::unhex;

/// Time without a sign of life after which a worker counts as gone.
const GONE_AFTER: Duration = Duration::from_secs(5);
/// Maximum number of workers; beyond it, new ones are not counted, but their results are.
const MOST_WORKERS: usize = 20_000;

/// A worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worker {
    pub(crate) name: String,
    pub(crate) threads: u32,
    pub(crate) rate: f64,
    /// Last sign of life in which it plays for this run.
    seen: Option<Instant>,
    /// Number of its results that another has repeated with the same outcome.
    pub(crate) passed: u32,
    /// Items that it has played.
    pub(crate) items: u64,
    /// Why it is left out.
    pub(crate) excluded: Option<String>,
    /// Why it cannot play for this run, as it says itself.
    refused: Option<String>,
}

/// The workers by their keys.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    workers: HashMap<Key, Worker>,
}

impl Roster {
    /// Notes a sign of life. Returns a line about the worker if there is something to say.
    pub(crate) fn beat(&mut self, run: &str, beat: &Beat) -> Option<String> {
        let key = unhex(&beat.key)?;
        let refusal = beat.refusals.iter().find(|(refused, _)| refused == run).map(|(_, why)| why.clone());
        if !beat.runs.iter().any(|served| served == run) && refusal.is_none() {
            return None;
        }
        let worker = self.worker(key, &beat.worker)?;
        worker.name.clone_from(&beat.worker);
        (worker.threads, worker.rate) = (beat.threads, beat.rate);
        if let Some(why) = refusal {
            let new = worker.refused.as_ref() != Some(&why);
            let line = new.then(|| format!("worker {} cannot play for this run: {why}", beat.worker));
            worker.refused = Some(why);
            worker.seen = None;
            return line;
        }
        worker.seen = Some(Instant::now());
        None
    }

    /// The worker of a key, which is added if it is new.
    pub(crate) fn worker(&mut self, key: Key, name: &str) -> Option<&mut Worker> {
        if self.workers.len() >= MOST_WORKERS && !self.workers.contains_key(&key) {
            return None;
        }
        let new = || Worker { name: name.to_owned(), ..Worker::default() };
        Some(self.workers.entry(key).or_insert_with(new))
    }

    /// Whether there has been no worker.
    pub(crate) fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Worker> {
        self.workers.get(key)
    }

    /// Leaves a worker out.
    pub(crate) fn exclude(&mut self, key: Key, name: &str, why: &str) {
        if let Some(worker) = self.worker(key, name) {
            worker.excluded = Some(why.to_owned());
        }
    }

    pub(crate) fn is_excluded(&self, key: &Key) -> bool {
        self.workers.get(key).is_some_and(|worker| worker.excluded.is_some())
    }

    /// Keys of those that are left out, as many as an announcement holds.
    pub(crate) fn excluded(&self) -> Vec<Key> {
        const MOST: usize = 1000;
        self.workers.iter().filter(|(_, worker)| worker.excluded.is_some()).map(|(key, _)| *key).take(MOST).collect()
    }

    /// The workers that are there.
    pub(crate) fn present(&self) -> impl Iterator<Item = (&Key, &Worker)> {
        let is_there =
            |worker: &Worker| worker.excluded.is_none() && worker.seen.is_some_and(|seen| seen.elapsed() < GONE_AFTER);
        self.workers.iter().filter(move |(_, worker)| is_there(worker))
    }

    /// Threads of the workers that are there.
    pub(crate) fn threads(&self) -> usize {
        self.present().map(|(_, worker)| worker.threads as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::PROTOCOL;

    fn beat(name: &str, key: u8, run: Option<&str>) -> Beat {
        Beat {
            protocol: PROTOCOL,
            worker: name.into(),
            key: crate::wire::hex(&[key; 32]),
            program: "p".into(),
            threads: 4,
            runs: run.map(str::to_owned).into_iter().collect(),
            done: [0, 0],
            rate: 10.0,
            held: 0,
            spooled: 0,
            refusals: Vec::new(),
        }
    }

    #[test]
    fn those_who_play_for_the_run_are_there() {
        let mut roster = Roster::default();
        assert_eq!(roster.beat("run", &beat("a", 1, Some("run"))), None);
        roster.beat("run", &beat("b", 2, Some("another")));
        assert_eq!((roster.threads(), roster.present().count()), (4, 1));
        let refusing = Beat { refusals: vec![("run".into(), "other bits".into())], ..beat("c", 3, None) };
        assert!(roster.beat("run", &refusing).expect("a line").contains("worker c cannot play"));
        assert_eq!(roster.beat("run", &refusing), None, "once");
        roster.exclude([1; 32], "a", "it cheats");
        assert_eq!((roster.threads(), roster.excluded()), (0, vec![[1; 32]]));
        assert!(roster.is_excluded(&[1; 32]) && !roster.is_excluded(&[2; 32]));
    }
}

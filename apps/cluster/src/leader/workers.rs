//! The workers of a run: which are present, which are trusted since a check has passed, and which are excluded.
//!
//! A worker is identified by its key, which signs its messages, and by its name, the last part of its subjects, on which the
//! permissions of the server let no one else publish. Each name has one key and each key one name; workers of one name count
//! as one.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::identity::Key;
use crate::messages::{Beat, MOST_LEFT_OUT};
use crate::wire::short;

/// Time without a heartbeat after which a worker counts as gone.
const GONE_AFTER: Duration = Duration::from_secs(5);
/// Maximum number of workers; beyond it, untrusted ones make room for new ones.
const MOST_WORKERS: usize = 20_000;
/// Number of excluded keys of a name after which the name is excluded.
const MOST_FAULTS: usize = 3;
/// Maximum number of threads of untrusted workers that count while no worker is trusted.
const MOST_NEW_THREADS: usize = 1024;

/// A worker.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    /// Its name; empty if only a journal knows it.
    pub(crate) name: String,
    threads: u32,
    /// Last heartbeat in which it plays for this run.
    seen: Option<Instant>,
    /// Last message.
    active: Instant,
    /// Number of its results that a second player has confirmed.
    pub(crate) passed: u32,
    /// Whether it is excluded.
    is_excluded: bool,
    /// Why it cannot play for this run, as it reports.
    refused: Option<String>,
}

impl Worker {
    fn new(name: &str) -> Self {
        let (name, active) = (name.to_owned(), Instant::now());
        Self { name, threads: 0, seen: None, active, passed: 0, is_excluded: false, refused: None }
    }

    /// Whether its results are used.
    fn is_trusted(&self) -> bool {
        self.passed > 0 && !self.is_excluded
    }
}

/// The workers by their keys.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    workers: HashMap<Key, Worker>,
    /// The key of each name.
    names: HashMap<String, Key>,
    /// Keys whose name has another key, and when they were last refused.
    doubles: HashMap<Key, Instant>,
    /// Number of times that a worker has given a new reason why it cannot play for this run.
    pub(crate) refusals: u64,
}

impl Workers {
    /// Admits a message that a key has signed on the subject of a name. Refuses it if the name has another key, unless that
    /// one is excluded or silent: a worker that has lost its spool has a new key.
    pub(crate) fn admit(&mut self, key: Key, name: &str) -> Result<(), String> {
        let known = self.workers.get(&key).is_some_and(|worker| worker.name == name);
        if !known {
            if let Some(worker) = self.workers.get(&key).filter(|worker| !worker.name.is_empty())
                && (worker.is_excluded || worker.active.elapsed() < GONE_AFTER)
            {
                return Err(format!("its key {} is that of worker {}", short(&key), worker.name));
            }
            if let Some(speaker) = self.names.get(name).filter(|speaker| **speaker != key)
                && let Some(worker) = self.workers.get(speaker)
            {
                if !worker.is_excluded && worker.active.elapsed() < GONE_AFTER {
                    if self.doubles.len() < MOST_LEFT_OUT {
                        self.doubles.insert(key, Instant::now());
                    }
                    let (key, speaker) = (short(&key), short(speaker));
                    return Err(format!("its key {key} is not {speaker}, which speaks for that name"));
                }
                let faults = self.workers.values().filter(|worker| worker.is_excluded && worker.name == name).count();
                if faults >= MOST_FAULTS {
                    self.exclude(key, name);
                    return Err(format!("{faults} keys of that name have been excluded"));
                }
            }
            self.forget_name(&key);
            self.names.insert(name.to_owned(), key);
        }
        self.doubles.remove(&key);
        let worker = self.worker(key, name);
        worker.name.replace_range(.., name);
        worker.active = Instant::now();
        Ok(())
    }

    /// Takes a heartbeat that a key has signed. Returns a line about the worker if there is a new one.
    ///
    /// # Errors
    /// Another key speaks for the worker's name.
    pub(crate) fn beat(&mut self, run: &str, key: Key, beat: &Beat) -> Result<Option<String>, String> {
        let refusal = beat.refusals.iter().find(|(refused, _)| refused == run).map(|(_, why)| why.clone());
        if !beat.runs.iter().any(|served| served == run) && refusal.is_none() {
            return Ok(None);
        }
        self.admit(key, &beat.worker)?;
        let worker = self.worker(key, &beat.worker);
        worker.threads = beat.threads;
        worker.seen = refusal.is_none().then(Instant::now);
        let is_new = worker.refused != refusal;
        worker.refused.clone_from(&refusal);
        let refusal = refusal.filter(|_| is_new);
        self.refusals += u64::from(refusal.is_some());
        Ok(refusal.map(|why| format!("worker {} cannot play for this run: {why}", beat.worker)))
    }

    /// The worker of a key, which is added if it is new. If there are too many, the one that has been silent the longest is
    /// removed, an untrusted one if there is any.
    fn worker(&mut self, key: Key, name: &str) -> &mut Worker {
        if self.workers.len() >= MOST_WORKERS && !self.workers.contains_key(&key) {
            let silent = self.workers.iter().min_by_key(|(_, worker)| (worker.is_trusted(), worker.active));
            if let Some(silent) = silent.map(|(silent, _)| *silent) {
                self.forget_name(&silent);
                self.workers.remove(&silent);
            }
        }
        self.workers.entry(key).or_insert_with(|| Worker::new(name))
    }

    /// Frees the name of a key's worker.
    fn forget_name(&mut self, key: &Key) {
        if let Some(worker) = self.workers.get(key)
            && self.names.get(&worker.name) == Some(key)
        {
            self.names.remove(&worker.name);
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Worker> {
        self.workers.get(key)
    }

    /// Notes that a worker has passed a check.
    pub(crate) fn pass(&mut self, key: Key) {
        let worker = self.worker(key, "");
        worker.passed = worker.passed.saturating_add(1);
    }

    /// Whether the results of a worker are used.
    pub(crate) fn is_trusted(&self, key: &Key) -> bool {
        self.get(key).is_some_and(Worker::is_trusted)
    }

    /// Whether two keys belong to workers of different names, which may confirm each other.
    pub(crate) fn are_apart(&self, one: &Key, other: &Key) -> bool {
        let name = |key| self.get(key).map(|worker| &worker.name).filter(|name| !name.is_empty());
        name(one).zip(name(other)).is_some_and(|(one, other)| one != other)
    }

    /// Excludes a worker.
    pub(crate) fn exclude(&mut self, key: Key, name: &str) {
        self.worker(key, name).is_excluded = true;
    }

    pub(crate) fn is_excluded(&self, key: &Key) -> bool {
        self.workers.get(key).is_some_and(|worker| worker.is_excluded)
    }

    /// Number of excluded workers.
    pub(crate) fn excluded(&self) -> usize {
        self.workers.values().filter(|worker| worker.is_excluded).count()
    }

    /// Keys from which nothing is taken, within the limit of an announcement: those of excluded workers, and for the moment
    /// those whose name has another key.
    pub(crate) fn unwanted(&mut self) -> Vec<Key> {
        self.doubles.retain(|_, refused| refused.elapsed() < GONE_AFTER);
        let excluded = self.workers.iter().filter(|(_, worker)| worker.is_excluded).map(|(key, _)| key);
        self.doubles.keys().chain(excluded).copied().take(MOST_LEFT_OUT).collect()
    }

    /// The workers that are present.
    pub(crate) fn present(&self) -> impl Iterator<Item = (&Key, &Worker)> {
        let is_there =
            |worker: &Worker| !worker.is_excluded && worker.seen.is_some_and(|seen| seen.elapsed() < GONE_AFTER);
        let speaks = |key: &Key, worker: &Worker| self.names.get(&worker.name) == Some(key);
        self.workers.iter().filter(move |(key, worker)| is_there(worker) && speaks(key, worker))
    }

    /// Whether a worker reports that it cannot play for this run.
    pub(crate) fn has_refusal(&self) -> bool {
        self.workers.values().any(|worker| worker.refused.is_some() && worker.active.elapsed() < GONE_AFTER)
    }

    /// Number of threads of the workers that are present. Untrusted ones count for at most as many as trusted ones, since nothing
    /// proves their number.
    pub(crate) fn threads(&self) -> usize {
        let sum = |trusted: bool| -> usize {
            let some = self.present().filter(|(_, worker)| worker.is_trusted() == trusted);
            some.map(|(_, worker)| worker.threads as usize).sum()
        };
        let checked = sum(true);
        checked + sum(false).min(if checked > 0 { checked } else { MOST_NEW_THREADS })
    }
}

/// Decides when the number of workers is worth a line.
#[derive(Default)]
pub(super) struct WorkerNotices {
    seconds: u32,
    reported: Option<usize>,
    /// Seconds without any worker.
    without: u32,
}

impl WorkerNotices {
    /// Called once a second. Returns the number of workers if it is worth a line: a few seconds after the start, when the
    /// first worker comes, and once a minute while there is none.
    pub(super) fn due(&mut self, workers: usize) -> Option<usize> {
        self.seconds += 1;
        self.without = if workers == 0 { self.without + 1 } else { 0 };
        let is_due = if workers == 0 {
            self.without == 3 || self.without.is_multiple_of(60)
        } else {
            self.reported == Some(0) || (self.reported.is_none() && self.seconds >= 2)
        };
        if is_due {
            self.reported = Some(workers);
        }
        is_due.then_some(workers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::PROTOCOL;

    fn beat(name: &str, run: Option<&str>) -> Beat {
        Beat {
            protocol: PROTOCOL,
            worker: name.into(),
            key: String::new(),
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

    fn key(number: u32) -> Key {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&number.to_le_bytes());
        key
    }

    #[test]
    fn those_who_play_for_the_run_are_there() {
        let mut workers = Workers::default();
        assert_eq!(workers.beat("run", key(1), &beat("a", Some("run"))), Ok(None));
        workers.beat("run", key(2), &beat("b", Some("another"))).expect("admitted");
        assert_eq!((workers.threads(), workers.present().count()), (4, 1));
        let refusing = Beat { refusals: vec![("run".into(), "other bits".into())], ..beat("c", None) };
        let line = workers.beat("run", key(3), &refusing).expect("admitted").expect("a line");
        assert!(line.contains("worker c cannot play"));
        assert_eq!(workers.beat("run", key(3), &refusing), Ok(None), "once");
        assert!(workers.refusals == 1 && workers.has_refusal());
        workers.exclude(key(1), "a");
        assert_eq!((workers.threads(), workers.excluded(), workers.unwanted()), (0, 1, vec![key(1)]));
        assert!(workers.is_excluded(&key(1)) && !workers.is_excluded(&key(2)));
    }

    #[test]
    fn one_key_speaks_for_a_name() {
        let mut workers = Workers::default();
        assert_eq!(workers.admit(key(1), "a"), Ok(()));
        assert!(workers.admit(key(2), "a").expect_err("another key").contains("speaks for that name"));
        assert!(workers.beat("run", key(2), &beat("a", Some("run"))).is_err());
        assert_eq!(workers.unwanted(), [key(2)], "it should not play for nothing");
        assert_eq!((workers.admit(key(2), "b"), workers.admit(key(1), "a")), (Ok(()), Ok(())));
        assert!(workers.unwanted().is_empty());
        assert!(workers.are_apart(&key(1), &key(2)) && !workers.are_apart(&key(1), &key(1)));
        // A key that is silent, or has been excluded, is followed by another: the same worker.
        workers.worker(key(1), "a").active -= GONE_AFTER;
        assert_eq!((workers.admit(key(3), "a"), workers.admit(key(1), "a")), (Ok(()), Ok(())));
        assert!(!workers.are_apart(&key(1), &key(3)), "no worker confirms itself");
        workers.pass(key(9));
        assert!(!workers.are_apart(&key(1), &key(9)), "a journal knows no names");
        for number in [3, 4, 5] {
            workers.exclude(key(number), "a");
            let next = workers.admit(key(number + 1), "a");
            assert_eq!(next.is_ok(), number < 5, "{next:?}");
        }
        assert!(workers.is_excluded(&key(6)), "the name is excluded");
    }

    #[test]
    fn a_key_speaks_for_one_name() {
        let mut workers = Workers::default();
        workers.pass(key(1));
        assert_eq!(workers.admit(key(1), "a"), Ok(()), "a journal knows no names");
        for number in 0..1000 {
            let fault = workers.admit(key(1), &format!("n{number}")).expect_err("another name");
            assert!(fault.contains("is that of worker a"), "{fault}");
        }
        assert_eq!(
            (workers.admit(key(1), "a"), workers.unwanted()),
            (Ok(()), Vec::new()),
            "the worker itself continues"
        );
        // A silent worker may have been given another name; the old one is free.
        for number in 0..1000 {
            workers.worker(key(1), "").active -= GONE_AFTER;
            assert_eq!(workers.admit(key(1), &format!("n{number}")), Ok(()));
        }
        assert_eq!(workers.names.len(), 1);
        assert_eq!(workers.admit(key(2), "a"), Ok(()));
        // A new name does not make up for a fault.
        workers.exclude(key(2), "a");
        workers.worker(key(2), "").active -= GONE_AFTER;
        assert!(workers.admit(key(2), "b").is_err() && workers.is_excluded(&key(2)));
    }

    #[test]
    fn strangers_crowd_out_no_one_and_count_little() {
        let mut workers = Workers::default();
        workers.beat("run", key(0), &beat("known", Some("run"))).expect("admitted");
        workers.pass(key(0));
        for number in 1..=MOST_WORKERS as u32 + 50 {
            workers.beat("run", key(number), &beat(&format!("s{number}"), Some("run"))).expect("admitted");
        }
        assert_eq!(workers.workers.len(), MOST_WORKERS);
        assert_eq!(workers.names.len(), MOST_WORKERS);
        assert!(workers.is_trusted(&key(0)));
        assert_eq!(workers.threads(), 8);
        // Later workers are admitted, and stay once a check is passed.
        assert_eq!(workers.admit(key(99_999), "late"), Ok(()));
        workers.pass(key(99_999));
        assert!(workers.is_trusted(&key(99_999)));
    }

    #[test]
    fn waiting_is_reported_once_a_minute() {
        let mut notices = WorkerNotices::default();
        let said: Vec<Option<usize>> = (0..5).map(|_| notices.due(0)).collect();
        assert_eq!(said, [None, None, Some(0), None, None]);
        assert_eq!((0..60).filter_map(|_| notices.due(0)).count(), 1);
        assert_eq!((notices.due(2), notices.due(3)), (Some(2), None));
        let mut notices = WorkerNotices::default();
        assert_eq!((notices.due(1), notices.due(1), notices.due(1)), (None, Some(1), None));
    }
}

//! The workers that play for a run, as their heartbeats say.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::messages::Beat;

/// Time without a heartbeat after which a worker counts as gone.
const GONE_AFTER: Duration = Duration::from_secs(5);

/// A worker.
#[derive(Debug)]
struct Worker {
    threads: u32,
    /// Its last heartbeat.
    seen: Instant,
    /// Why it cannot play for this run, as it reports.
    refused: Option<String>,
}

/// The workers by their names.
#[derive(Debug, Default)]
pub(crate) struct Workers(HashMap<String, Worker>);

impl Workers {
    /// Takes a heartbeat. Returns a line about the worker if there is a new one.
    pub(crate) fn beat(&mut self, run: &str, beat: &Beat) -> Option<String> {
        let refused = beat.refusals.iter().find(|(refused, _)| refused == run).map(|(_, why)| why.clone());
        if !beat.runs.iter().any(|served| served == run) && refused.is_none() {
            return None;
        }
        let worker = Worker { threads: beat.threads, seen: Instant::now(), refused: refused.clone() };
        let before = self.0.insert(beat.worker.clone(), worker);
        let why = refused.filter(|_| before.is_none_or(|before| before.refused.is_none()))?;
        Some(format!("worker {} cannot play for this run: {why}", beat.worker))
    }

    /// Number of the workers that are present and play for the run, and of their threads.
    pub(crate) fn present(&self) -> (usize, usize) {
        let present = self.0.values().filter(|worker| worker.refused.is_none() && worker.seen.elapsed() < GONE_AFTER);
        present.fold((0, 0), |(count, threads), worker| (count + 1, threads + worker.threads as usize))
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
            program: "p".into(),
            threads: 4,
            runs: run.map(str::to_owned).into_iter().collect(),
            done: [0, 0],
            rate: 10.0,
            held: 0,
            unsent: 0,
            refusals: Vec::new(),
        }
    }

    #[test]
    fn those_who_play_for_the_run_are_present() {
        let mut workers = Workers::default();
        assert_eq!(workers.beat("run", &beat("a", Some("run"))), None);
        assert_eq!(workers.beat("run", &beat("b", Some("another"))), None);
        assert_eq!(workers.present(), (1, 4));
        let refusing = Beat { refusals: vec![("run".into(), "other bits".into())], ..beat("c", None) };
        let line = workers.beat("run", &refusing).expect("a line");
        assert!(line.contains("worker c cannot play for this run: other bits"));
        assert_eq!((workers.beat("run", &refusing), workers.present()), (None, (1, 4)), "it is said once");
        workers.0.get_mut("a").expect("present").seen -= GONE_AFTER;
        assert_eq!(workers.present(), (0, 0));
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

//! The jobs of a worker: those in memory, and those that are being fetched while other runs continue.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::message::AckKind;
use async_nats::jetstream::{Context, Message};
use tokio::task::JoinSet;

use super::loaded::Loaded;
use super::shared::Shared;
use crate::job::{Job, LONGEST_JOB};
use crate::messages::Range;
use crate::notes::lock;
use crate::stored::get_job;

/// Jobs in memory.
const MOST_JOBS: usize = 4;

/// A range of a run, and the message that it came in.
pub(super) struct Taken {
    pub(super) run: String,
    pub(super) range: Range,
    pub(super) message: Message,
}

/// Why there is no job.
pub(super) enum Fault {
    /// It cannot be fetched now.
    Unfetched(String),
    /// It cannot be played here.
    Unplayable(String),
}

/// A range and its job.
pub(super) type Arrived = (Taken, Result<Arc<Loaded>, Fault>);

/// Jobs in memory, the current one of each run, and those that are being fetched.
#[derive(Default)]
pub(super) struct Jobs {
    loaded: VecDeque<Arc<Loaded>>,
    current: HashMap<String, [u8; 32]>,
    fetching: JoinSet<Arrived>,
    /// Runs whose job is being fetched.
    waiting: HashSet<String>,
}

impl Jobs {
    pub(super) fn find(&self, sum: &[u8; 32]) -> Option<Arc<Loaded>> {
        self.loaded.iter().find(|job| job.sum == *sum).map(Arc::clone)
    }

    /// Starts to fetch the job of a range.
    pub(super) fn begin(&mut self, js: &Context, shared: &Shared, taken: Taken) {
        self.waiting.insert(taken.run.clone());
        let (js, games) = (js.clone(), shared.games.clone());
        let speak_after = lock(&shared.runs).ack_wait(&taken.run) / 3;
        self.fetching.spawn(async move {
            let sum = taken.range.job;
            let fetched = async {
                let bytes = get_job(&js, &sum, LONGEST_JOB).await;
                let bytes = bytes.map_err(|error| Fault::Unfetched(format!("{error:#}")))?;
                let decoded = tokio::task::spawn_blocking(move || Job::decode(&bytes, &games)).await;
                let decoded = decoded.map_err(|error| Fault::Unplayable(error.to_string()))?;
                decoded.map_err(|fault| Fault::Unplayable(fault.0))
            };
            tokio::pin!(fetched);
            let job = loop {
                match tokio::time::timeout(speak_after, &mut fetched).await {
                    Ok(job) => break job,
                    Err(_) => drop(taken.message.ack_with(AckKind::Progress).await),
                }
            };
            (taken, job.map(|job| Arc::new(Loaded::new(sum, job))))
        });
    }

    pub(super) fn is_waiting(&self, run: &str) -> bool {
        self.waiting.contains(run)
    }

    /// Waits for a job to arrive, up to this time.
    pub(super) async fn arrival(&mut self, wait: Duration) -> Option<Arrived> {
        if self.fetching.is_empty() {
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            return None;
        }
        let Ok((taken, job)) = tokio::time::timeout(wait, self.fetching.join_next()).await.ok()?? else {
            self.waiting.clear(); // a task has panicked: the server gives its range to another worker
            return None;
        };
        self.waiting.remove(&taken.run);
        if let Ok(job) = &job {
            self.loaded.push_back(Arc::clone(job));
        }
        if self.loaded.len() > MOST_JOBS {
            self.loaded.pop_front();
        }
        Some((taken, job))
    }

    /// Drops the jobs of runs that are not among these.
    pub(super) fn keep(&mut self, shared: &Shared, runs: &[String]) {
        let over: Vec<String> = self.current.keys().filter(|name| !runs.contains(name)).cloned().collect();
        for name in over {
            let sum = self.current.remove(&name);
            sum.iter().for_each(|sum| self.retire(shared, sum));
        }
    }

    /// Records the current job of a run and drops the one before.
    pub(super) fn set_current(&mut self, shared: &Shared, name: &str, sum: [u8; 32]) {
        let before = self.current.insert(name.to_owned(), sum);
        before.iter().filter(|before| **before != sum).for_each(|before| self.retire(shared, before));
    }

    pub(super) fn retire(&mut self, shared: &Shared, sum: &[u8; 32]) {
        shared.queue.retire(sum);
        lock(&shared.held).retain(|_, held| held.job != *sum);
        self.loaded.retain(|job| job.sum != *sum);
    }
}

//! The jobs that a worker has in memory.

use std::collections::HashMap;
use std::sync::Arc;

use super::loaded::Loaded;
use super::shared::Shared;
use crate::notes::lock;

/// The current job of each run.
#[derive(Default)]
pub(super) struct Jobs(HashMap<String, Arc<Loaded>>);

impl Jobs {
    pub(super) fn find(&self, run: &str, sum: &[u8; 32]) -> Option<Arc<Loaded>> {
        self.0.get(run).filter(|job| job.sum == *sum).map(Arc::clone)
    }

    /// Keeps the current job of a run and drops the one before.
    pub(super) fn set_current(&mut self, shared: &Shared, run: &str, job: &Arc<Loaded>) {
        let before = self.0.insert(run.to_owned(), Arc::clone(job));
        before.iter().filter(|before| before.sum != job.sum).for_each(|before| drop_job(shared, &before.sum));
    }

    /// Drops the jobs of runs that are not among these.
    pub(super) fn keep(&mut self, shared: &Shared, runs: &[String]) {
        self.0.extract_if(|run, _| !runs.contains(run)).for_each(|(_, job)| drop_job(shared, &job.sum));
    }
}

/// Drops the items of a job whose outcomes are no longer needed.
pub(super) fn drop_job(shared: &Shared, sum: &[u8; 32]) {
    shared.queue.retire(sum);
    lock(&shared.held).retain(|_, held| held.job != *sum);
}

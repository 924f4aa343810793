//! Announcements of the leader: the current job for workers, the number of workers for the log, and the end of the run.

use super::listening::announce;
use super::workers::WorkerNotices;
use super::{ActiveJob, Leader, journal};
use crate::counters::Counter;
use crate::link::remove_run;
use crate::messages::LONGEST_REASON;
use crate::notes::lock;
use crate::server::shown;
use crate::stored::remove_job;
use crate::wire::{cut, hex};

impl Leader {
    /// Announces the end of the run, and removes its data from the server and its folder.
    pub fn finish(self) {
        self.end();
        let _ = std::fs::remove_dir_all(&self.folder);
        self.line(format!("{} items of workers", self.counters.get(Counter::Items)));
    }

    fn end(&self) {
        lock(&self.announcement).over = true;
        let js = &self.link.js;
        self.link.wait(remove_run(js, &self.run));
        let _ = self.remove_jobs(&[]);
        self.announce_now();
    }

    /// Removes the jobs of the run from the server, with their journals, except for those in `kept`.
    pub(super) fn remove_jobs(&self, kept: &[[u8; 32]]) -> std::io::Result<()> {
        for job in journal::remove_others(&self.folder, kept)? {
            let _ = self.link.wait(remove_job(&self.link.js, &job)); // the server forgets it after some days anyway
        }
        Ok(())
    }

    /// Announces the run without waiting for the next second.
    pub(super) fn announce_now(&self) {
        self.link.wait(announce(&self.link.client, &self.announcement));
    }

    pub(super) fn announce_stage(&self, active: &ActiveJob<'_, '_>) {
        let missing = active.missing as u64;
        let mut announcement = lock(&self.announcement);
        announcement.stage = cut(&active.items.stage, LONGEST_REASON);
        announcement.job = hex(&active.sum);
        announcement.items = [active.received.len() as u64, missing];
        drop(announcement);
        let (workers, threads) = lock(&self.workers).present();
        self.counters.set(Counter::Missing, missing);
        self.counters.set(Counter::Workers, workers as u64);
        self.counters.set(Counter::Threads, threads as u64);
    }

    pub(super) fn note_waiting(&self, notices: &mut WorkerNotices) {
        let (workers, threads) = lock(&self.workers).present();
        let url = shown(&self.settings.server.url);
        match notices.due(workers) {
            Some(0) => self.line(format!("waiting for workers; start one with: turnstone worker {url}")),
            Some(1) => self.line(format!("1 worker with {threads} threads")),
            Some(workers) => self.line(format!("{workers} workers with {threads} threads")),
            None => {}
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // No leader can continue from a temporary folder.
        if self.temporary.is_some() && !lock(&self.announcement).over {
            self.end();
        }
    }
}

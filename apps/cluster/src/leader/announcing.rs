//! What the leader says of its run: to workers what is being played, to people how many workers there are, and its end.

use super::waits::Waits;
use super::{Course, Leader, journal};
use crate::counters::Counter;
use crate::link::remove_run;
use crate::messages::LONGEST_REASON;
use crate::notes::lock;
use crate::server::shown;
use crate::stored::remove_job;
use crate::wire::{cut, hex};

impl Leader {
    /// Says that the run is over and removes what the server and the folder have of it.
    pub fn finish(self) {
        self.end();
        let _ = std::fs::remove_dir_all(&self.folder);
        let [items, checks, overdue, excluded] = [Counter::Items, Counter::Checks, Counter::Overdue, Counter::Excluded]
            .map(|which| self.counters.get(which));
        self.line(format!(
            "{items} items of workers, {checks} compared, {overdue} of these here since no worker did in time; \
             {excluded} workers left out"
        ));
    }

    fn end(&self) {
        lock(&self.announcement).over = true;
        if self.rival.is_there() {
            return; // it is that one's now
        }
        let js = &self.link.js;
        self.link.wait(remove_run(js, &self.run));
        let _ = self.remove_jobs(&[]);
        self.announce_now();
    }

    /// Removes all jobs of the run but some from the server, and their journals.
    pub(super) fn remove_jobs(&self, kept: &[[u8; 32]]) -> std::io::Result<()> {
        for job in journal::remove_others(&self.folder, kept)? {
            let _ = self.link.wait(remove_job(&self.link.js, &job)); // it is forgotten after some days anyway
        }
        Ok(())
    }

    /// Announces the run without waiting for the next second.
    pub(super) fn announce_now(&self) {
        self.link.wait(self.rival.announce(&self.link.js.client(), &self.run, &self.announcement));
    }

    pub(super) fn announce_stage(&self, course: &Course<'_, '_>) {
        let missing = course.collection.missing() as u64;
        let mut announcement = lock(&self.announcement);
        announcement.stage = cut(&course.items.stage, LONGEST_REASON);
        announcement.job = hex(&course.job);
        announcement.items = [course.collection.len() as u64, missing];
        drop(announcement);
        let mut roster = lock(&self.roster);
        lock(&self.announcement).excluded = roster.unwanted().iter().map(|key| hex(key)).collect();
        self.counters.set(Counter::Missing, missing);
        self.counters.set(Counter::Workers, roster.present().count() as u64);
        self.counters.set(Counter::Threads, roster.threads() as u64);
    }

    pub(super) fn note_waiting(&self, waits: &mut Waits) {
        let (workers, threads) = {
            let roster = lock(&self.roster);
            (roster.present().count(), roster.threads())
        };
        let url = shown(&self.settings.server.url);
        match waits.look(workers) {
            Some(0) => self.line(format!("waiting for workers, of which there are none: turnstone worker {url}")),
            Some(1) => self.line(format!("1 worker with {threads} threads")),
            Some(workers) => self.line(format!("{workers} workers with {threads} threads")),
            None => {}
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // No other leader goes on with what was in a temporary folder.
        if self.temporary.is_some() && !lock(&self.announcement).over {
            self.end();
        }
    }
}

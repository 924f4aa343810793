//! Taking: outcomes of workers are checked, compared, written to disk and acknowledged; who lies is left out.

use std::time::Duration;
use std::time::Instant;

use anyhow::Result;

use super::collection::{Check, LEADER, Received};
use super::journal::Outcome;
use super::listening::AT_ONCE;
use super::{Course, Incoming, Leader};
use crate::counters::Counter;
use crate::identity::Key;
use crate::messages::{Results, is_name, short};
use crate::notes::lock;
use crate::wire::hex;
use turnstone_agents::streams::Stream;

/// Time after which a leader has heard of all workers that are there.
const KNOWN_AFTER: Duration = Duration::from_millis(2500);

impl Leader {
    /// Takes the messages that are there, or waits for one; writes what is new to disk, and acknowledges them.
    pub(super) fn receive_some(&self, course: &mut Course<'_, '_>, incoming: &mut Incoming) -> Result<()> {
        let mut messages = Vec::new();
        let wait = Duration::from_millis(100);
        let Incoming { messages: receiver, rng, .. } = incoming;
        let taking = async { tokio::time::timeout(wait, receiver.recv_many(&mut messages, AT_ONCE)).await };
        let _ = self.link.wait(taking);
        for message in &messages {
            self.counters.add(Counter::Bytes, message.payload.len() as u64);
            let name = message.subject.rsplit('.').next().unwrap_or_default();
            match Results::decode(&message.payload) {
                Ok((key, results)) => self.take_results(course, rng, key, name, results)?,
                Err(fault) => self.reject(name, &fault.to_string()),
            }
        }
        course.journal.sync()?;
        self.link.wait(async {
            for message in &messages {
                let _ = message.ack().await; // what is not acknowledged comes again, and is known then
            }
        });
        Ok(())
    }

    fn take_results(
        &self,
        course: &mut Course<'_, '_>,
        rng: &mut Stream,
        key: Key,
        name: &str,
        results: Results,
    ) -> Result<()> {
        if lock(&self.roster).is_excluded(&key) {
            self.counters.add(Counter::Rejected, 1);
            return Ok(());
        }
        if results.run != self.run || results.job != course.job {
            self.counters.add(Counter::Stale, 1);
            return Ok(());
        }
        if let Some(worker) = lock(&self.roster).worker(key, name) {
            worker.items = worker.items.saturating_add(results.items.len() as u64);
        }
        (course.items.effort)(&results.effort);
        self.counters.add(Counter::Positions, results.effort.positions.min(1 << 40));
        let took = Duration::from_millis(results.effort.millis.min(3_600_000));
        course.range_time = (course.range_time + took) / 2;
        for (number, item) in results.items {
            self.take(course, rng, number as usize, key, item, false)?;
            if lock(&self.roster).is_excluded(&key) {
                break;
            }
        }
        Ok(())
    }

    /// Takes an outcome of a worker, or from the journal.
    pub(super) fn take(
        &self,
        course: &mut Course<'_, '_>,
        rng: &mut Stream,
        number: usize,
        key: Key,
        item: Vec<u8>,
        journalled: bool,
    ) -> Result<()> {
        if number >= course.collection.len() {
            return self.exclude(course, key, &format!("item {number} is not one of the job's"));
        }
        let is_checked = course.collection.checks.iter().any(|check| check.number == number && check.by != key);
        if course.collection.has(number) && !is_checked {
            self.counters.add(Counter::Duplicates, 1);
            return Ok(());
        }
        if let Err(fault) = (course.items.check)(number, &item) {
            return self.exclude(course, key, &format!("{}, item {number}: {fault}", course.items.stage));
        }
        match course.collection.receive(number, key, &item) {
            Received::Known => self.counters.add(Counter::Duplicates, 1),
            Received::New => {
                (course.news, course.backoff) = (Instant::now(), 1);
                self.counters.add(Counter::Items, 1);
                if !journalled {
                    course.journal.add(&Outcome { number: number as u32, key, item: item.clone() });
                }
                (course.items.progress)(course.collection.len() - course.collection.missing());
                let passed = lock(&self.roster).get(&key).map_or(0, |worker| worker.passed);
                if course.collection.choose_check(number, key, passed, &item, rng) {
                    self.ask_for_check(course, number, key);
                }
                course.waiting.push((number, item));
            }
            Received::Confirmed { by } => {
                self.counters.add(Counter::Checks, 1);
                course.news = Instant::now();
                let knows = |key: &Key| lock(&self.roster).get(key).is_some_and(|worker| worker.passed > 0);
                if knows(&by) || knows(&key) {
                    [by, key].into_iter().for_each(|key| {
                        course.journal.pass(key);
                        self.pass(key);
                    });
                } else {
                    // Two strangers may be one: the first checks are the leader's own.
                    self.settle(course, number, &[(by, item.clone()), (key, item)])?;
                }
            }
            Received::Disputed { by, first } => {
                self.counters.add(Counter::Checks, 1);
                self.settle(course, number, &[(by, first), (key, item)])?;
            }
        }
        Ok(())
    }

    pub(super) fn pass(&self, key: Key) {
        if let Some(worker) = lock(&self.roster).worker(key, "") {
            worker.passed = worker.passed.saturating_add(1);
        }
    }

    /// Whether no other worker is there.
    pub(super) fn is_alone(&self, key: &Key) -> bool {
        self.began.elapsed() > KNOWN_AFTER && lock(&self.roster).present().all(|(present, _)| present == key)
    }

    /// Plays one item here that no other worker has checked in time.
    pub(super) fn check_overdue(&self, course: &mut Course<'_, '_>) -> Result<()> {
        let patience = (3 * course.range_time).clamp(Duration::from_secs(5), Duration::from_mins(1));
        let Some(Check { number, by, item, .. }) = course.collection.overdue(patience, |by| self.is_alone(by)) else {
            return Ok(());
        };
        self.counters.add(Counter::Checks, 1);
        self.settle(course, number, &[(by, item)])
    }

    /// Plays an item here and leaves out whoever had another outcome.
    fn settle(&self, course: &mut Course<'_, '_>, number: usize, outcomes: &[(Key, Vec<u8>)]) -> Result<()> {
        let truth = (course.items.play_here)(number)?;
        for (key, item) in outcomes {
            if *item == truth {
                course.journal.pass(*key);
                self.pass(*key);
            } else {
                let stage = &course.items.stage;
                let fault = format!("{stage}, item {number}: its outcome is not the one that playing it again gives");
                self.exclude(course, *key, &fault)?;
            }
        }
        course.news = Instant::now();
        Ok(())
    }

    /// Leaves a worker out and takes back what it has played in this job.
    fn exclude(&self, course: &mut Course<'_, '_>, key: Key, fault: &str) -> Result<()> {
        let name = lock(&self.roster).get(&key).map(|worker| worker.name.clone()).unwrap_or_default();
        let mut roster = lock(&self.roster);
        if roster.is_excluded(&key) || key == LEADER {
            return Ok(());
        }
        roster.exclude(key, &name, fault);
        lock(&self.announcement).excluded = roster.excluded().iter().map(|key| hex(key)).collect();
        self.counters.set(Counter::Excluded, roster.excluded().len() as u64);
        drop(roster);
        self.counters.add(Counter::Rejected, 1);
        let withdrawn = course.collection.withdraw(key);
        course.journal.revoke(key);
        course.journal.sync()?;
        course.published = false;
        let key = short(&key);
        self.warning(format!("worker {name} ({key}) is left out, and {withdrawn} of its items played again: {fault}"));
        Ok(())
    }

    /// Counts a message that no worker answers for, and reports the first ones.
    fn reject(&self, name: &str, fault: &str) {
        let before = self.counters.get(Counter::Rejected);
        self.counters.add(Counter::Rejected, 1);
        if before < 20 || before.is_multiple_of(1000) {
            let name = if is_name(name) { name } else { "?" };
            self.warning(format!("a message on the subject of worker {name} is refused: {fault}"));
        }
    }
}

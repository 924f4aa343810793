//! Taking: outcomes of workers are checked, compared, written to disk and acknowledged; who lies is left out.

use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use anyhow::Result;
use async_nats::jetstream::message::AckKind;
use turnstone_base::streams::Stream;

use super::collection::{Again, Check, Received};
use super::journal::Outcome;
use super::listening::AT_ONCE;
use super::rival::found;
use super::{Course, Incoming, Leader};
use crate::counters::Counter;
use crate::identity::Key;
use crate::messages::{Results, is_name};
use crate::notes::lock;
use crate::wire::{hex, short};

/// Time after which a leader knows all workers that are there.
const KNOWN_AFTER: Duration = Duration::from_millis(2500);

impl Leader {
    /// Leaves the run to another leader until that one ends, or this one is stopped.
    pub(super) fn give_way(&self, course: &mut Course<'_, '_>, incoming: &mut Incoming) {
        self.warning(found(&self.run));
        while self.rival.is_there() && !course.items.stop.load(Ordering::Relaxed) {
            self.link.wait(async {
                while let Ok(message) = incoming.messages.try_recv() {
                    let _ = message.ack_with(AckKind::Nak(None)).await; // it is for the other one
                }
            });
            std::thread::sleep(Duration::from_millis(50));
        }
        // Whatever was handed out may have been taken back by the other one.
        (course.published, incoming.is_ready) = (false, false);
    }

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
                Ok((_, results)) if results.worker != name => {
                    self.reject(name, &format!("it is one of worker {}", results.worker));
                }
                Ok((key, results)) => self.take_results(course, rng, key, results)?,
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

    fn take_results(&self, course: &mut Course<'_, '_>, rng: &mut Stream, key: Key, results: Results) -> Result<()> {
        if lock(&self.roster).is_excluded(&key) {
            self.counters.add(Counter::Rejected, 1);
            return Ok(());
        }
        if results.run != self.run || results.job != course.job {
            self.counters.add(Counter::Stale, 1);
            return Ok(());
        }
        let admitted = lock(&self.roster).admit(key, &results.worker);
        if let Err(fault) = admitted {
            self.reject(&results.worker, &fault);
            return Ok(());
        }
        (course.items.effort)(&results.effort);
        self.counters.add(Counter::Positions, results.effort.positions.min(1 << 40));
        let took = Duration::from_millis(results.effort.millis).min(course.began.elapsed());
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
    // long because each check of a result has its consequence for the worker
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
        if course.collection.is_known(number, &key, |key| lock(&self.roster).is_trusted(key)) {
            self.counters.add(Counter::Duplicates, 1);
            return Ok(());
        }
        if let Err(fault) = (course.items.check)(number, &item) {
            return self.exclude(course, key, &format!("{}, item {number}: {fault}", course.items.stage));
        }
        match course.collection.receive(number, key, &item) {
            Received::New => {
                (course.news, course.backoff) = (Instant::now(), 1);
                self.counters.add(Counter::Items, 1);
                (course.items.progress)(course.collection.len() - course.collection.missing());
                let passed = lock(&self.roster).get(&key).map_or(0, |worker| worker.passed);
                if course.collection.choose_check(number, key, passed, &item, rng) == Some(Again::Worker) {
                    self.ask_for_check(course, number, key);
                }
                if !journalled {
                    course.journal.add(&Outcome { number: number as u32, key, item });
                }
            }
            Received::Confirmed { by } => {
                self.counters.add(Counter::Checks, 1);
                course.news = Instant::now();
                let is_confirmed = {
                    let roster = lock(&self.roster);
                    roster.are_apart(&by, &key) && (roster.is_trusted(&by) || roster.is_trusted(&key))
                };
                if is_confirmed {
                    [by, key].into_iter().for_each(|key| self.pass(course, key));
                } else {
                    // Two strangers may be one: the first checks are the leader's own.
                    self.settle(course, rng, number, vec![(by, item.clone()), (key, item)])?;
                }
            }
            Received::Disputed { by, first } => {
                self.counters.add(Counter::Checks, 1);
                self.settle(course, rng, number, vec![(by, first), (key, item)])?;
            }
        }
        Ok(())
    }

    /// Notes that a worker has passed a check.
    fn pass(&self, course: &mut Course<'_, '_>, key: Key) {
        course.journal.pass(key);
        lock(&self.roster).pass(key);
    }

    /// Whether no other worker is there.
    pub(super) fn is_alone(&self, key: &Key) -> bool {
        let roster = lock(&self.roster);
        self.began.elapsed() > KNOWN_AFTER
            && roster.present().all(|(present, _)| present == key || !roster.are_apart(present, key))
    }

    /// Plays one item here that the leader is to check, or that no other worker has checked in time.
    pub(super) fn check_overdue(&self, course: &mut Course<'_, '_>, rng: &mut Stream) -> Result<()> {
        let patience = (3 * course.range_time).clamp(Duration::from_secs(5), Duration::from_mins(1));
        let Some(Check { number, by, item, since, .. }) = course.collection.overdue(patience, |by| self.is_alone(by))
        else {
            return Ok(());
        };
        self.counters.add(Counter::Checks, 1);
        self.counters.add(Counter::Overdue, u64::from(since.elapsed() >= patience));
        self.settle(course, rng, number, vec![(by, item)])
    }

    /// Plays an item here and leaves out whoever had another outcome.
    fn settle(
        &self,
        course: &mut Course<'_, '_>,
        rng: &mut Stream,
        number: usize,
        outcomes: Vec<(Key, Vec<u8>)>,
    ) -> Result<()> {
        let truth = (course.items.play_here)(number)?;
        let mut true_one = None;
        for (key, item) in outcomes {
            if item == truth {
                self.pass(course, key);
                true_one = Some(key);
            } else {
                let stage = &course.items.stage;
                let fault = format!("{stage}, item {number}: its outcome is not the one that playing it again gives");
                self.exclude(course, key, &fault)?;
            }
        }
        course.news = Instant::now();
        match true_one {
            // The first outcome has been taken back, and the second is true.
            Some(key) if !course.collection.has(number) => self.take(course, rng, number, key, truth, false),
            _ => Ok(()),
        }
    }

    /// Leaves a worker out and takes back what it has played in this job.
    fn exclude(&self, course: &mut Course<'_, '_>, key: Key, fault: &str) -> Result<()> {
        let mut roster = lock(&self.roster);
        if roster.is_excluded(&key) {
            return Ok(());
        }
        let name = roster.get(&key).map_or_else(String::new, |worker| worker.name.clone());
        let name = if name.is_empty() { "of an earlier time".to_owned() } else { name };
        roster.exclude(key, &name);
        lock(&self.announcement).excluded = roster.unwanted().iter().map(|key| hex(key)).collect();
        self.counters.set(Counter::Excluded, roster.excluded() as u64);
        drop(roster);
        self.counters.add(Counter::Rejected, 1);
        let withdrawn = course.collection.withdraw(key);
        course.journal.revoke(key);
        course.journal.sync()?;
        if withdrawn > 0 {
            course.published = false;
        }
        let key = short(&key);
        let line = format!("worker {name} ({key}) is left out, and {withdrawn} of its items played again: {fault}");
        let line = lock(&self.exclusions).allow(&name, line);
        line.into_iter().for_each(|line| self.warning(line));
        Ok(())
    }

    /// Counts a message that is not taken from its sender, and reports the first ones.
    fn reject(&self, name: &str, fault: &str) {
        self.counters.add(Counter::Rejected, 1);
        let name = if is_name(name) { name } else { "?" };
        let line = format!("a message on the subject of worker {name} is refused: {fault}");
        let line = lock(&self.rejections).allow(name, line);
        line.into_iter().for_each(|line| self.warning(line));
    }
}

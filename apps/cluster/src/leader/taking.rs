//! Outcomes of workers are checked, compared, written to disk and acknowledged; workers that cheat are excluded.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Result;
use async_nats::jetstream::Message;
use async_nats::jetstream::message::AckKind;
use tokio::sync::mpsc;

use super::journal::Outcome;
use super::listening::AT_ONCE;
use super::outcomes::{Check, Checker, Received, Source};
use super::rival::found;
use super::{ActiveJob, BetweenJobs, Leader};
use crate::counters::Counter;
use crate::identity::Key;
use crate::messages::{Results, is_name};
use crate::notes::lock;
use crate::wire::{hex, short};

/// Time after which a leader has heard from every worker that is present.
const KNOWN_AFTER: Duration = Duration::from_millis(2500);

impl Leader {
    /// Waits while another leader has the run, or until this one is stopped.
    pub(super) fn give_way(&self, active: &mut ActiveJob<'_, '_>, kept: &mut BetweenJobs) {
        self.warning(found(&self.run));
        while self.rival.is_there() && !active.items.stop.load(Ordering::Relaxed) {
            self.link.wait(async {
                while let Ok(message) = kept.messages.try_recv() {
                    let _ = message.ack_with(AckKind::Nak(None)).await; // it is for the other leader
                }
            });
            std::thread::sleep(Duration::from_millis(50));
        }
        // The other leader may have removed everything that was handed out.
        (active.published, kept.is_ready) = (false, false);
    }

    /// Takes the messages that have arrived, or waits a moment for one; writes what is new to disk, then acknowledges them.
    pub(super) fn receive_some(
        &self,
        active: &mut ActiveJob<'_, '_>,
        receiver: &mut mpsc::Receiver<Message>,
    ) -> Result<()> {
        let mut messages = Vec::new();
        let wait = Duration::from_millis(100);
        let taking = async { tokio::time::timeout(wait, receiver.recv_many(&mut messages, AT_ONCE)).await };
        let _ = self.link.wait(taking);
        for message in &messages {
            self.counters.add(Counter::Bytes, message.payload.len() as u64);
            let name = message.subject.rsplit('.').next().unwrap_or_default();
            match Results::decode(&message.payload) {
                Ok((_, results)) if results.worker != name => {
                    self.reject(name, &format!("it is one of worker {}", results.worker));
                }
                Ok((key, results)) => self.take_results(active, key, results)?,
                Err(fault) => self.reject(name, &fault.to_string()),
            }
        }
        active.journal.sync()?;
        self.link.wait(async {
            for message in &messages {
                let _ = message.ack().await; // without it the message comes again, and is known then
            }
        });
        Ok(())
    }

    fn take_results(&self, active: &mut ActiveJob<'_, '_>, key: Key, results: Results) -> Result<()> {
        if lock(&self.workers).is_excluded(&key) {
            self.counters.add(Counter::Rejected, 1);
            return Ok(());
        }
        if results.run != self.run || results.job != active.sum {
            self.counters.add(Counter::Stale, 1);
            return Ok(());
        }
        let admitted = lock(&self.workers).admit(key, &results.worker);
        if let Err(fault) = admitted {
            self.reject(&results.worker, &fault);
            return Ok(());
        }
        (active.items.effort)(&results.effort);
        self.counters.add(Counter::Positions, results.effort.positions.min(1 << 40));
        let took = Duration::from_millis(results.effort.millis).min(active.began.elapsed());
        active.range_time = (active.range_time + took) / 2;
        for (number, item) in results.items {
            self.take(active, Outcome { number, key, item }, Source::Worker)?;
            if lock(&self.workers).is_excluded(&key) {
                break;
            }
        }
        Ok(())
    }

    /// Takes an outcome of a worker, or one from the journal.
    pub(super) fn take(&self, active: &mut ActiveJob<'_, '_>, outcome: Outcome, source: Source) -> Result<()> {
        let (number, key) = (outcome.number as usize, outcome.key);
        if number >= active.outcomes.len() {
            return self.exclude(active, key, &format!("item {number} is not one of the job's"));
        }
        if active.outcomes.is_known(number, &key, |key| lock(&self.workers).is_trusted(key)) {
            self.counters.add(Counter::Duplicates, 1);
            return Ok(());
        }
        if let Err(fault) = (active.items.check)(number, &outcome.item) {
            return self.exclude(active, key, &format!("{}, item {number}: {fault}", active.items.stage));
        }
        match active.outcomes.receive(number, key, &outcome.item) {
            Received::New => {
                self.take_new(active, &outcome, source);
                Ok(())
            }
            Received::Confirmed { by } => self.confirm(active, by, outcome),
            Received::Disputed { by, first } => {
                self.counters.add(Counter::Checks, 1);
                self.settle(active, number, vec![(by, first), (key, outcome.item)])
            }
        }
    }

    /// Takes the first outcome of an item, and decides whether it is checked.
    fn take_new(&self, active: &mut ActiveJob<'_, '_>, outcome: &Outcome, source: Source) {
        (active.news, active.backoff) = (Instant::now(), 1);
        self.counters.add(Counter::Items, 1);
        (active.items.progress)(active.outcomes.len() - active.outcomes.missing());
        let (number, key) = (outcome.number as usize, outcome.key);
        let passed = lock(&self.workers).get(&key).map_or(0, |worker| worker.passed);
        let checker = active.outcomes.choose_check(number, key, passed, &outcome.item, &mut active.rng);
        if checker == Some(Checker::Worker) {
            self.ask_for_check(active, number, key);
        }
        if source == Source::Worker {
            active.journal.add(outcome);
        }
    }

    /// Takes a second outcome that is equal to the first, which is by another key.
    fn confirm(&self, active: &mut ActiveJob<'_, '_>, by: Key, outcome: Outcome) -> Result<()> {
        self.counters.add(Counter::Checks, 1);
        active.news = Instant::now();
        let Outcome { number, key, item } = outcome;
        let is_confirmed = {
            let workers = lock(&self.workers);
            workers.are_apart(&by, &key) && (workers.is_trusted(&by) || workers.is_trusted(&key))
        };
        if is_confirmed {
            [by, key].into_iter().for_each(|key| self.pass(active, key));
            return Ok(());
        }
        // Two strangers may be one person: the leader checks the first items itself.
        self.settle(active, number as usize, vec![(by, item.clone()), (key, item)])
    }

    /// Notes that a worker has passed a check.
    fn pass(&self, active: &mut ActiveJob<'_, '_>, key: Key) {
        active.journal.pass(key);
        lock(&self.workers).pass(key);
    }

    /// Whether no other worker is present.
    pub(super) fn is_alone(&self, key: &Key) -> bool {
        let workers = lock(&self.workers);
        self.began.elapsed() > KNOWN_AFTER
            && workers.present().all(|(present, _)| present == key || !workers.are_apart(present, key))
    }

    /// Plays one item on this machine that the leader must check, or that no other worker has checked in time.
    pub(super) fn check_overdue(&self, active: &mut ActiveJob<'_, '_>) -> Result<()> {
        let patience = (3 * active.range_time).clamp(Duration::from_secs(5), Duration::from_mins(1));
        let Some(Check { number, by, item, since, .. }) = active.outcomes.overdue(patience, |by| self.is_alone(by))
        else {
            return Ok(());
        };
        self.counters.add(Counter::Checks, 1);
        self.counters.add(Counter::Overdue, u64::from(since.elapsed() >= patience));
        self.settle(active, number, vec![(by, item)])
    }

    /// Plays an item on this machine and excludes the workers whose outcome differs.
    fn settle(&self, active: &mut ActiveJob<'_, '_>, number: usize, outcomes: Vec<(Key, Vec<u8>)>) -> Result<()> {
        let truth = (active.items.play_here)(number)?;
        let mut confirmed = None;
        for (key, item) in outcomes {
            if item == truth {
                self.pass(active, key);
                confirmed = Some(key);
            } else {
                let stage = &active.items.stage;
                let fault = format!("{stage}, item {number}: its outcome is not the one that playing it again gives");
                self.exclude(active, key, &fault)?;
            }
        }
        active.news = Instant::now();
        match confirmed {
            // The first outcome has been removed, and the second is right.
            Some(key) if !active.outcomes.has(number) => {
                self.take(active, Outcome { number: number as u32, key, item: truth }, Source::Worker)
            }
            _ => Ok(()),
        }
    }

    /// Excludes a worker and removes what it has played in this job.
    fn exclude(&self, active: &mut ActiveJob<'_, '_>, key: Key, fault: &str) -> Result<()> {
        let mut workers = lock(&self.workers);
        if workers.is_excluded(&key) {
            return Ok(());
        }
        let name = workers.get(&key).map_or_else(String::new, |worker| worker.name.clone());
        let name = if name.is_empty() { "of an earlier time".to_owned() } else { name };
        workers.exclude(key, &name);
        lock(&self.announcement).excluded = workers.unwanted().iter().map(|key| hex(key)).collect();
        self.counters.set(Counter::Excluded, workers.excluded() as u64);
        drop(workers);
        self.counters.add(Counter::Rejected, 1);
        let withdrawn = active.outcomes.withdraw(key);
        active.journal.revoke(key);
        active.journal.sync()?;
        if withdrawn > 0 {
            active.published = false;
        }
        let key = short(&key);
        let line = format!("worker {name} ({key}) is excluded, and {withdrawn} of its items are played again: {fault}");
        let line = lock(&self.exclusions).allow(&name, line);
        line.into_iter().for_each(|line| self.warning(line));
        Ok(())
    }

    /// Counts a message that is rejected, and reports the first ones.
    fn reject(&self, name: &str, fault: &str) {
        self.counters.add(Counter::Rejected, 1);
        let name = if is_name(name) { name } else { "?" };
        let line = format!("a message on the subject of worker {name} is refused: {fault}");
        let line = lock(&self.rejections).allow(name, line);
        line.into_iter().for_each(|line| self.warning(line));
    }
}

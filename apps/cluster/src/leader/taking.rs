//! Outcomes of workers are checked, written to disk and acknowledged, once each by the number of the item.

use std::time::{Duration, Instant};

use anyhow::Result;
use async_nats::jetstream::Message;
use tokio::sync::mpsc;

use super::listening::AT_ONCE;
use super::{ActiveJob, Leader};
use crate::counters::Counter;
use crate::messages::Results;

impl Leader {
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
            let worker = message.subject.rsplit('.').next().unwrap_or_default();
            match Results::decode(&message.payload) {
                Ok(results) => self.take_results(active, worker, results)?,
                Err(fault) => self.reject(worker, &fault.0),
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

    fn take_results(&self, active: &mut ActiveJob<'_, '_>, worker: &str, results: Results) -> Result<()> {
        if results.job != active.sum {
            self.counters.add(Counter::Stale, 1);
            return Ok(());
        }
        (active.items.effort)(&results.effort);
        self.counters.add(Counter::Positions, results.effort.positions);
        for (number, item) in results.items {
            match self.take(active, number as usize, &item)? {
                Ok(true) => active.journal.add(number, &item),
                Ok(false) => self.counters.add(Counter::Duplicates, 1),
                Err(fault) => self.reject(worker, &format!("{}, item {number}: {fault}", active.items.stage)),
            }
        }
        Ok(())
    }

    /// Takes an outcome of a worker, or one from the journal. Returns whether it is the first one of its item, or what is
    /// wrong with it.
    pub(super) fn take(
        &self,
        active: &mut ActiveJob<'_, '_>,
        number: usize,
        item: &[u8],
    ) -> Result<Result<bool, String>> {
        match active.received.get(number) {
            None => return Ok(Err("it is not one of the job's".into())),
            Some(true) => return Ok(Ok(false)),
            Some(false) => {}
        }
        if let Err(fault) = (active.items.put)(number, item)? {
            return Ok(Err(fault));
        }
        active.received[number] = true;
        active.missing -= 1;
        active.news = Instant::now();
        self.counters.add(Counter::Items, 1);
        (active.items.progress)(active.received.len() - active.missing);
        Ok(Ok(true))
    }

    /// Counts and reports a result that is not taken. Its items are handed out again.
    fn reject(&self, worker: &str, fault: &str) {
        self.counters.add(Counter::Rejected, 1);
        self.warning(format!("a result of worker {worker} is refused: {fault}"));
    }
}

//! Assigning work: ranges of missing items go to the work queue.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::context::PublishAckFuture;
use async_nats::jetstream::message::PublishMessage;

use super::listening::AT_ONCE;
use super::schedule::{Cut, ranges};
use super::{ActiveJob, Leader};
use crate::counters::Counter;
use crate::link::{consumer, ensure_storage};
use crate::messages::{RESULTS, Range, WORK, result_subject, work_subject};
use crate::notes::lock;
use crate::stored::put_job;
use crate::wire::hex;

/// Time without a result after which the missing items are handed out again, even if a worker says that it plays them.
const STUCK_AFTER: Duration = Duration::from_mins(10);

impl Leader {
    /// Stores the job, and puts the missing items on the work queue.
    pub(super) fn publish_missing(&self, active: &mut ActiveJob<'_, '_>) -> Result<()> {
        let ranges = self.missing_ranges(active);
        self.link.wait(async {
            put_job(&self.link.js, active.items.job).await?;
            self.publish_ranges(&ranges).await
        })?;
        active.news = Instant::now();
        Ok(())
    }

    /// The missing items as ranges, with the identifiers of their messages.
    fn missing_ranges(&self, active: &mut ActiveJob<'_, '_>) -> Vec<(String, Range)> {
        let is_missing = |number: &usize| !active.received[*number] && (active.items.is_needed)(*number);
        let missing: Vec<usize> = (0..active.received.len()).filter(is_missing).collect();
        let threads = lock(&self.workers).present().1.max(1);
        let cut = Cut { threads, group: active.items.group, most: active.items.most };
        let seats = active.received.len().div_ceil(threads).min(usize::from(u16::MAX)) as u16;
        active.attempt += 1;
        let range = |(first, count): (usize, usize)| {
            let range = Range { job: active.sum, first: first as u32, count: count as u16, seats };
            // The server drops a message whose identifier it has seen.
            let id = format!("{}.{}.{}.{}.{first}", self.run, hex(&active.sum[..6]), self.own, active.attempt);
            (id, range)
        };
        ranges(&missing, cut).into_iter().map(range).collect()
    }

    /// Empties the work queue of the run. Creates the streams and consumers first, unless the server is known to have them.
    pub(super) fn prepare_queue(&self, is_ready: bool) -> Result<()> {
        let (js, subject) = (&self.link.js, work_subject(&self.run));
        self.link.wait(async {
            if !is_ready {
                ensure_storage(js).await?;
                let wanted = consumer(&self.run, subject.clone(), self.settings.ack_wait, 100_000);
                js.create_consumer_on_stream(wanted, WORK).await.context("the queue of the run")?;
                let results = consumer(&self.run, result_subject(&self.run, "*"), Duration::from_secs(30), 2048);
                js.create_consumer_on_stream(results, RESULTS).await.context("the results of the run")?;
            }
            let stream = js.get_stream_no_info(WORK).await?;
            stream.purge().filter(subject).await.context("the queue of the run")?;
            Ok(())
        })
    }

    async fn publish_ranges(&self, ranges: &[(String, Range)]) -> Result<()> {
        let subject = work_subject(&self.run);
        for some in ranges.chunks(AT_ONCE) {
            let mut acks: Vec<PublishAckFuture> = Vec::new();
            for (id, range) in some {
                let message = PublishMessage::build().payload(range.encode().into()).message_id(id.clone());
                acks.push(self.link.js.send_publish(subject.clone(), message).await?);
            }
            for ack in acks {
                ack.await?;
            }
        }
        Ok(())
    }

    /// Hands out the missing items again if no worker has them, or if nothing has come from those that have them for long.
    pub(super) fn hand_out_again(&self, active: &mut ActiveJob<'_, '_>, is_ready: &mut bool) {
        if active.missing == 0 || lock(&self.workers).present().0 == 0 {
            return;
        }
        let info = self.link.wait(async {
            let js = &self.link.js;
            let _: Consumer<pull::Config> = js.get_consumer_from_stream(&self.run, RESULTS).await?;
            let work: Consumer<pull::Config> = js.get_consumer_from_stream(&self.run, WORK).await?;
            Ok::<_, anyhow::Error>(work.cached_info().clone())
        });
        let Ok(info) = info else {
            // The server is unreachable, or has lost its store.
            if self.link.client.connection_state() == async_nats::connection::State::Connected {
                (active.published, *is_ready) = (false, false);
            }
            return;
        };
        self.counters.set(Counter::Queue, info.num_pending);
        self.counters.set(Counter::Played, info.num_ack_pending as u64);
        let silent = active.news.elapsed();
        let no_one_has_them = info.num_ack_pending == 0 && silent > Duration::from_secs(2);
        if info.num_pending > 0 || !(no_one_has_them || silent > STUCK_AFTER) {
            return;
        }
        let missing = active.missing as u64;
        if self.publish_missing(active).is_ok() {
            self.counters.add(Counter::Republished, missing);
        }
    }
}

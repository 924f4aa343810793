//! Handing out: ranges of missing items, and items to be checked, go to the work queue.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use async_nats::jetstream;
use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::context::PublishAckFuture;
use async_nats::jetstream::message::PublishMessage;

use super::collection::Again;
use super::listening::AT_ONCE;
use super::schedule::{Cut, ranges};
use super::{Course, Leader};
use crate::counters::Counter;
use crate::identity::Key;
use crate::link::{consumer, ensure_storage};
use crate::messages::Range;
use crate::names::{RESULTS, WORK, result, work};
use crate::notes::lock;
use crate::server::ANSWER;
use crate::stored::put_job;
use crate::wire::{hex, short};

/// Shortest and longest time between two looks at the stored job while workers say that they cannot play.
const READ_BACK: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(60)];

impl Leader {
    /// Reads the stored job back if workers cannot play, and stores it again if it cannot be read: its pieces may have been
    /// removed or damaged.
    pub(super) fn restore_job(&self, course: &mut Course<'_, '_>) {
        let (has_refusal, refusals) = {
            let roster = lock(&self.roster);
            (roster.has_refusal(), roster.refusals)
        };
        let (last, known) = course.read_back;
        let pause = READ_BACK[usize::from(known == refusals)];
        if !has_refusal || last.is_some_and(|last| last.elapsed() < pause) {
            return;
        }
        course.read_back = (Some(Instant::now()), refusals);
        let name = short(&course.job);
        match self.link.wait(put_job(&self.link.js, course.items.job)) {
            Ok(false) => {}
            Ok(true) => self.warning(format!("job {name} could not be read from the server, and is stored again")),
            Err(error) => self.warning(format!("job {name} cannot be read from the server nor stored: {error:#}")),
        }
    }

    /// Hands out the missing items. At first (`Some`) whatever was handed out before is taken back, and what the server
    /// lacks is made, unless it is known to be ready.
    // long because it prepares the ranges and publishes them in one wait for the server
    pub(super) fn publish_missing(&self, course: &mut Course<'_, '_>, at_first: Option<bool>) -> Result<()> {
        let (js, subject) = (&self.link.js, work(&self.run));
        let needed = |number: &usize| (course.items.is_needed)(*number);
        let mut missing = course.collection.missing_numbers();
        missing.retain(needed);
        let threads = lock(&self.roster).threads().max(1);
        let cut = Cut { threads, group: course.items.group, most: course.items.most };
        let seats = course.collection.len().div_ceil(threads).min(usize::from(u16::MAX)) as u16;
        course.attempt += 1;
        let mut messages = Vec::new();
        for (first, count) in ranges(&missing, cut) {
            let range = Range { job: course.job, first: first as u32, count: count as u16, seats, except: None };
            messages.push((self.message_id(course, first), range));
        }
        self.link.wait(async {
            if at_first == Some(false) {
                ensure_storage(js).await?;
                let ack_wait = self.settings.ack_wait;
                let wanted = consumer(&self.run, subject.clone(), ack_wait, 100_000);
                js.create_consumer_on_stream(wanted, WORK).await.context("the queue of the run")?;
                let results = consumer(&self.run, result(&self.run, "*"), Duration::from_secs(30), 2048);
                js.create_consumer_on_stream(results, RESULTS).await.context("the results of the run")?;
            }
            if at_first.is_some() {
                let stream = js.get_stream_no_info(WORK).await?;
                stream.purge().filter(subject.clone()).await.context("the queue of the run")?;
            }
            put_job(js, course.items.job).await?;
            let mut acks: Vec<PublishAckFuture> = Vec::new();
            for (id, range) in &messages {
                let message = PublishMessage::build().payload(range.encode().into());
                let message = message.message_id(id.clone());
                acks.push(js.send_publish(subject.clone(), message).await?);
                if acks.len() == AT_ONCE {
                    for ack in acks.drain(..) {
                        ack.await?;
                    }
                }
            }
            for ack in acks {
                ack.await?;
            }
            Ok::<(), anyhow::Error>(())
        })?;
        if at_first.is_some() {
            let by_workers = course.collection.checks.iter().filter(|check| check.again == Again::Worker);
            let asked: Vec<(usize, Key)> = by_workers.map(|check| (check.number, check.by)).collect();
            asked.into_iter().for_each(|(number, by)| self.ask_for_check(course, number, by));
        }
        course.news = Instant::now();
        Ok(())
    }

    /// Has another worker repeat an item. If that fails, the leader does it in due course.
    pub(super) fn ask_for_check(&self, course: &mut Course<'_, '_>, number: usize, by: Key) {
        if self.is_alone(&by) {
            return;
        }
        course.attempt += 1;
        let range = Range { job: course.job, first: number as u32, count: 1, seats: 0, except: Some(by) };
        let id = self.message_id(course, number);
        let message = PublishMessage::build().payload(range.encode().into()).message_id(id);
        let subject = work(&self.run);
        let _ = self.link.wait(async { self.link.js.send_publish(subject, message).await });
    }

    /// Identifier of the message that hands out a range beginning with this item. The server drops a message whose identifier
    /// it has seen, so a check that shared one with a check of an earlier job would never reach a worker.
    fn message_id(&self, course: &Course<'_, '_>, first: usize) -> String {
        format!("{}.{}.{}.{}.{first}", self.run, hex(&course.job[..6]), self.rival.own, course.attempt)
    }

    fn patience(&self, course: &Course<'_, '_>) -> Duration {
        (3 * course.range_time * course.backoff).clamp(Duration::from_secs(5), Duration::from_mins(10))
    }

    /// Hands out the missing items again if no one has them, or if those who have them are silent for long.
    pub(super) fn hand_out_again(&self, course: &mut Course<'_, '_>, is_ready: &mut bool) {
        if course.collection.missing() == 0 || lock(&self.roster).threads() == 0 {
            return;
        }
        let info = self.link.wait(async {
            let consumer: pull::Config = consumer(&self.run, String::new(), ANSWER, 1);
            let name = consumer.durable_name.unwrap_or_default();
            let js = &self.link.js;
            let _: jetstream::consumer::Consumer<pull::Config> = js.get_consumer_from_stream(&name, RESULTS).await?;
            let found: jetstream::consumer::Consumer<pull::Config> = js.get_consumer_from_stream(name, WORK).await?;
            Ok::<_, anyhow::Error>(found.cached_info().clone())
        });
        let Ok(info) = info else {
            // The server is away, or has lost its store.
            if self.link.client.connection_state() == async_nats::connection::State::Connected {
                (course.published, *is_ready) = (false, false);
            }
            return;
        };
        self.counters.set(Counter::Queue, info.num_pending);
        self.counters.set(Counter::Played, info.num_ack_pending as u64);
        let silent = course.news.elapsed();
        let no_one_has_them = info.num_ack_pending == 0 && silent > Duration::from_secs(2);
        if info.num_pending > 0 || !(no_one_has_them || silent > self.patience(course)) {
            return;
        }
        let missing = course.collection.missing() as u64;
        if self.publish_missing(course, None).is_ok() {
            course.backoff = (2 * course.backoff).min(16);
            self.counters.add(Counter::Republished, missing);
        }
    }
}

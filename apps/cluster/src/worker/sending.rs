//! Finished items are collected by range, and sent until the server has acknowledged them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use async_nats::jetstream::Context;
use async_nats::jetstream::message::{AckKind, Acker, PublishMessage};
use tokio::sync::mpsc;

use super::shared::{Finished, HeldRange, Shared};
use crate::counters::Counter;
use crate::messages::{Effort, MOST_IN_RANGE, Results, result_subject};
use crate::notes::{Note, lock};
use crate::server::ANSWER;
use crate::wire::{hex, sha256};

/// Maximum length of a message of results, if the server takes it.
const LONGEST_MESSAGE: usize = 512 << 10;
/// Room for the headers of a message.
const HEADERS: usize = 4 << 10;
/// Pause after a failure of the server.
const PAUSE: Duration = Duration::from_millis(500);

/// A finished range, as messages.
struct Complete {
    run: String,
    messages: Vec<Vec<u8>>,
    acker: Arc<Acker>,
}

/// Collects finished items by range, and sends ranges.
pub(super) async fn send(js: Context, shared: Arc<Shared>, mut finished: mpsc::UnboundedReceiver<Finished>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(publish(js.clone(), Arc::clone(&shared), receiver));
    while let Some(report) = finished.recv().await {
        match report {
            Finished::Item { job, number, outcome } => {
                let max_payload = js.client().max_payload();
                for range in take_item(&shared, job, number, &outcome) {
                    let (run, acker) = (range.run.clone(), Arc::clone(&range.acker));
                    let messages = encoded(&shared, range, max_payload);
                    if let Some(fault) = too_long(&messages, max_payload) {
                        give_up(&shared, &run, job, &fault, &acker).await;
                        continue;
                    }
                    shared.unsent.fetch_add(1, Ordering::Relaxed);
                    let _ = sender.send(Complete { run, messages, acker });
                }
            }
            Finished::Failure { job, fault } => {
                let ranges: Vec<_> = lock(&shared.held).extract_if(|_, held| held.job == job).collect();
                for (_, range) in ranges {
                    give_up(&shared, &range.run, job, &fault, &range.acker).await;
                }
            }
        }
    }
}

/// Returns a range for others to play, and plays nothing more of its job.
async fn give_up(shared: &Shared, run: &str, job: [u8; 32], fault: &str, acker: &Acker) {
    lock(&shared.runs).give_up(run, job, fault, &shared.note);
    let _ = acker.ack_with(AckKind::Nak(Some(Duration::from_secs(2)))).await;
}

/// Adds an item to the ranges that it belongs to, and returns those that are complete.
fn take_item(shared: &Shared, job: [u8; 32], number: usize, outcome: &[u8]) -> Vec<HeldRange> {
    let mut held = lock(&shared.held);
    for range in held.values_mut().filter(|range| range.job == job) {
        if range.left.remove(&number) {
            range.items.push((number as u32, outcome.to_vec()));
        }
    }
    held.extract_if(|_, range| range.job == job && range.left.is_empty()).map(|(_, range)| range).collect()
}

/// The messages of a finished range.
fn encoded(shared: &Shared, range: HeldRange, max_payload: usize) -> Vec<Vec<u8>> {
    let work = std::mem::take(&mut *lock(&shared.effort));
    let cache = [work.cache.requests, work.cache.hits, work.cache.merged, work.cache.batches];
    let effort = Effort { positions: work.positions, simulations: work.simulations, cache };
    let most = LONGEST_MESSAGE.min(max_payload.saturating_sub(HEADERS));
    messages(range.job, effort, range.items, most).iter().map(Results::encode).collect()
}

/// Divides the items of a range into messages of at most `most` bytes, if no item alone is longer.
fn messages(job: [u8; 32], effort: Effort, items: Vec<(u32, Vec<u8>)>, most: usize) -> Vec<Results> {
    let empty = |effort| Results { job, effort, items: Vec::new() };
    let mut parts = vec![empty(effort)];
    let mut length = Results::OVERHEAD;
    for (number, item) in items {
        let part = parts.last().expect("there is one");
        if !part.items.is_empty() && (length + 8 + item.len() > most || part.items.len() >= MOST_IN_RANGE) {
            parts.push(empty(Effort::default()));
            length = Results::OVERHEAD;
        }
        length += 8 + item.len();
        parts.last_mut().expect("there is one").items.push((number, item));
    }
    parts
}

/// Why the server would never take one of these messages.
fn too_long(messages: &[Vec<u8>], max_payload: usize) -> Option<String> {
    let longest = messages.iter().map(Vec::len).max().filter(|longest| *longest > max_payload)?;
    Some(format!("a result has {longest} bytes, and the server takes {max_payload} (max_payload)"))
}

/// Publishes ranges in their order, each until the server has stored it.
async fn publish(js: Context, shared: Arc<Shared>, mut ranges: mpsc::UnboundedReceiver<Complete>) {
    while let Some(range) = ranges.recv().await {
        let mut said = false;
        let since = Instant::now();
        while let Err(error) = publish_range(&js, &shared, &range).await {
            if !said && since.elapsed() > Duration::from_secs(3) {
                said = true;
                (shared.note)(Note::Warning(format!("the server does not take results: {error:#}; trying again")));
            }
            let _ = range.acker.ack_with(AckKind::Progress).await;
            tokio::time::sleep(PAUSE).await;
        }
        // If this message is lost, the range is played again, and the leader knows it.
        let _ = tokio::time::timeout(ANSWER, range.acker.double_ack()).await;
        let bytes: usize = range.messages.iter().map(Vec::len).sum();
        shared.counters.add(Counter::Bytes, bytes as u64);
        shared.unsent.fetch_sub(1, Ordering::Relaxed);
        shared.room.notify_one();
    }
}

async fn publish_range(js: &Context, shared: &Shared, range: &Complete) -> Result<()> {
    let subject = result_subject(&range.run, &shared.name);
    for message in &range.messages {
        let id = hex(&sha256(message)[..16]);
        let publish = PublishMessage::build().payload(message.clone().into()).message_id(id);
        js.send_publish(subject.clone(), publish).await?.await.context(subject.clone())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_divided_into_messages_that_the_server_takes() {
        let items: Vec<(u32, Vec<u8>)> = (0..50).map(|number| (number, vec![7; 100 * number as usize])).collect();
        let effort = Effort { positions: 9, ..Effort::default() };
        let parts = messages([1; 32], effort, items.clone(), 6000);
        assert!(parts.iter().all(|part| part.encode().len() <= 6000));
        assert_eq!(parts.iter().map(|part| part.effort.positions).sum::<u64>(), 9, "effort is counted once");
        assert_eq!(parts.into_iter().flat_map(|part| part.items).collect::<Vec<_>>(), items);
        let long = messages([1; 32], effort, vec![(0, vec![0; 9000]), (1, vec![0; 10])], 6000);
        assert_eq!(long.len(), 2, "an item that is too long stands alone");
        let encoded: Vec<Vec<u8>> = long.iter().map(Results::encode).collect();
        assert!(too_long(&encoded, 6000).expect("too long").contains("the server takes 6000"));
        assert_eq!(too_long(&encoded, 20_000), None);
    }
}

//! Finished items are collected by range, written to the spool, and sent until the server has acknowledged them.

use std::collections::VecDeque;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use async_nats::jetstream::Context;
use async_nats::jetstream::message::{AckKind, Acker, PublishMessage};
use tokio::sync::mpsc;

use super::shared::{Finished, Shared};
use super::spool::{Entry, Spool};
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

/// Collects finished items by range, and sends ranges. The spool's lock is held as long.
pub(super) async fn send(
    js: Context,
    shared: Arc<Shared>,
    mut spool: Spool,
    left: VecDeque<Entry>,
    mut finished: mpsc::UnboundedReceiver<Finished>,
) {
    let (sender, receiver) = mpsc::unbounded_channel();
    for entry in left {
        shared.counters.add(Counter::Spooled, 1);
        let _ = sender.send((entry, None));
    }
    tokio::spawn(publish(js.clone(), Arc::clone(&shared), receiver));
    let mut is_writable = true;
    while let Some(report) = finished.recv().await {
        match report {
            Finished::Item { job, number, outcome } => {
                let max_payload = js.client().max_payload();
                for (run, entry, acker) in take_item(&shared, job, number, &outcome, max_payload) {
                    if let Some(fault) = too_long(&entry, max_payload) {
                        give_up(&shared, &run, job, &fault, &acker).await;
                        continue;
                    }
                    let (entry, written) = spool.save(&run, entry);
                    if is_writable != written.is_ok() {
                        is_writable = written.is_ok();
                        note_spool(&shared, written);
                    }
                    shared.counters.add(Counter::Spooled, 1);
                    shared.unspooled.fetch_add(u64::from(entry.path.is_none()), Ordering::Relaxed);
                    let _ = sender.send((entry, Some(acker)));
                }
            }
            Finished::Failure { job, fault } => {
                let ranges: Vec<_> = {
                    let mut held = lock(&shared.held);
                    let ids: Vec<u64> = held.iter().filter(|(_, held)| held.job == job).map(|(id, _)| *id).collect();
                    ids.iter().filter_map(|id| held.remove(id)).collect()
                };
                for range in ranges {
                    give_up(&shared, &range.run, job, &fault, &range.acker).await;
                }
            }
        }
    }
}

/// Reports that finished ranges cannot be written, or can be written again.
fn note_spool(shared: &Shared, written: Result<()>) {
    (shared.note)(match written {
        Ok(()) => Note::Line("finished ranges are kept on disk again until the server has them".into()),
        Err(error) => Note::Warning(format!("{error:#}; finished ranges are sent from memory until that works again")),
    });
}

/// Returns a range for others to play, and plays nothing more of its job.
async fn give_up(shared: &Shared, run: &str, job: [u8; 32], fault: &str, acker: &Acker) {
    lock(&shared.runs).give_up(run, job, fault, &shared.note);
    let _ = acker.ack_with(AckKind::Nak(Some(Duration::from_secs(2)))).await;
}

type Complete = (String, Vec<Vec<u8>>, Arc<Acker>);

/// Adds an item to the ranges that it belongs to, and returns those that are complete, as messages.
fn take_item(shared: &Shared, job: [u8; 32], number: usize, outcome: &[u8], max_payload: usize) -> Vec<Complete> {
    let mut held = lock(&shared.held);
    let mut complete = Vec::new();
    for (id, range) in held.iter_mut().filter(|(_, range)| range.job == job) {
        if range.left.remove(&number) {
            range.items.push((number as u32, outcome.to_vec()));
            if range.left.is_empty() {
                complete.push(*id);
            }
        }
    }
    let mut ranges = Vec::new();
    for range in complete.iter().filter_map(|id| held.remove(id)) {
        let work = std::mem::take(&mut *lock(&shared.effort));
        let cache = [work.cache.requests, work.cache.hits, work.cache.merged, work.cache.batches];
        let millis = range.since.elapsed().as_millis() as u64;
        let effort = Effort { positions: work.positions, simulations: work.simulations, cache, millis };
        let most = LONGEST_MESSAGE.min(max_payload.saturating_sub(HEADERS));
        let parts = messages(job, effort, range.items, most);
        ranges.push((range.run, parts.iter().map(Results::encode).collect(), range.acker));
    }
    ranges
}

/// Divides the items of a range into messages of at most `most` bytes, if no item alone is longer.
fn messages(job: [u8; 32], effort: Effort, items: Vec<(u32, Vec<u8>)>, most: usize) -> Vec<Results> {
    let empty = |effort| Results { job, effort, items: Vec::new() };
    let mut parts = vec![empty(effort)];
    let mut length = Results::OVERHEAD;
    for (number, item) in items {
        let part = parts.last().expect("there is one");
        if !part.items.is_empty() && (length + 8 + item.len() > most || part.items.len() >= MOST_IN_RANGE) {
            parts.push(empty(Effort { millis: effort.millis, ..Effort::default() }));
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
async fn publish(js: Context, shared: Arc<Shared>, mut entries: mpsc::UnboundedReceiver<(Entry, Option<Arc<Acker>>)>) {
    while let Some((entry, acker)) = entries.recv().await {
        let mut said = false;
        let since = Instant::now();
        let is_sent = loop {
            if let Some(fault) = too_long(&entry.messages, js.client().max_payload()) {
                (shared.note)(Note::Warning(format!("run {}: {fault}; the range is returned", entry.run)));
                break false;
            }
            match publish_entry(&js, &shared, &entry).await {
                Ok(()) => break true,
                Err(error) => {
                    if !said && since.elapsed() > Duration::from_secs(3) {
                        said = true;
                        let text = format!("the server does not take results: {error:#}; trying again");
                        (shared.note)(Note::Warning(text));
                    }
                    if let Some(acker) = &acker {
                        let _ = acker.ack_with(AckKind::Progress).await;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        };
        // If this message is lost, the range is played again, and the leader knows it.
        match acker {
            Some(acker) if is_sent => drop(tokio::time::timeout(ANSWER, acker.double_ack()).await),
            Some(acker) => drop(acker.ack_with(AckKind::Nak(None)).await),
            None => {}
        }
        let bytes: usize = entry.messages.iter().map(Vec::len).sum();
        shared.counters.add(Counter::Bytes, if is_sent { bytes as u64 } else { 0 });
        match &entry.path {
            Some(path) => {
                if let Err(error) = fs::remove_file(path) {
                    (shared.note)(Note::Warning(format!("{}: {error}", path.display())));
                }
            }
            None => drop(shared.unspooled.fetch_sub(1, Ordering::Relaxed)),
        }
        shared.counters.set(Counter::Spooled, shared.counters.get(Counter::Spooled).saturating_sub(1));
    }
}

async fn publish_entry(js: &Context, shared: &Shared, entry: &Entry) -> Result<()> {
    let subject = result_subject(&entry.run, &shared.name);
    for message in &entry.messages {
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
        let effort = Effort { positions: 9, millis: 3, ..Effort::default() };
        let parts = messages([1; 32], effort, items.clone(), 6000);
        assert!(parts.iter().all(|part| part.encode().len() <= 6000));
        assert_eq!(parts.iter().map(|part| part.effort.positions).sum::<u64>(), 9, "effort is counted once");
        assert_eq!(parts.into_iter().flat_map(|part| part.items).collect::<Vec<_>>(), items);
        let long = messages([1; 32], effort, vec![(0, vec![0; 9000]), (1, vec![0; 10])], 6000);
        assert_eq!(long.len(), 2, "an item that is too long stands alone");
        let encoded: Vec<Vec<u8>> = long.iter().map(Results::encode).collect();
        assert!(too_long(&encoded, 6000).expect("for ever").contains("the server takes 6000"));
        assert_eq!(too_long(&encoded, 20_000), None);
    }
}

//! Results are sent until the server has stored them; then their jobs are acknowledged.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::message::{AckKind, Acker};
use tokio::sync::mpsc;

use super::Shared;
use super::table::Key;
use crate::link::{Note, lock, refusal};
use crate::messages::{Results, result_subject};
use crate::server::ANSWER;

/// Maximum length of the items of a message, if the server takes it.
const LONGEST_MESSAGE: usize = 512 << 10;
/// Room for all else of a message: headers, the JSON header, the checksum.
const BESIDES: usize = 32 << 10;
/// Pause after a failure of the server.
const PAUSE: Duration = Duration::from_millis(500);
/// Time after which a job that has failed is offered again.
const FAILED_AGAIN: Duration = Duration::from_secs(1);

/// What a thread has to tell the leader.
pub(super) enum Report {
    /// This job is complete.
    Finished { job: Key },
    /// A job of a run cannot be played here.
    Failed { run: String, acker: Arc<Acker>, results: Results },
}

/// Sends reports.
pub(super) async fn send(js: Context, shared: Arc<Shared>, mut reports: mpsc::UnboundedReceiver<Report>) {
    while let Some(report) = reports.recv().await {
        match report {
            Report::Failed { run, acker, results } => {
                let (first, why) = (results.first, results.failed.as_deref().unwrap_or_default());
                (shared.note)(Note::Warning(format!("run {run}, item {first}: {why}")));
                publish(&js, &shared, &run, &results).await;
                let _ = acker.ack_with(AckKind::Nak(Some(FAILED_AGAIN))).await;
            }
            Report::Finished { job } => {
                let Some((run, mut results, acker)) = shared.table.complete(job) else { continue };
                results.effort = std::mem::take(&mut *lock(&shared.effort));
                let most = LONGEST_MESSAGE.min(js.client().max_payload() - BESIDES);
                for part in parts(results, most) {
                    publish(&js, &shared, &run, &part).await;
                }
                // If this message is lost, the job is played again, and the leader knows its results.
                let _ = tokio::time::timeout(ANSWER, acker.double_ack()).await;
                shared.table.remove(job);
                shared.room.notify_one();
            }
        }
    }
}

/// Publishes results until the server has stored them.
async fn publish(js: &Context, shared: &Shared, run: &str, results: &Results) {
    let results = Results { worker: (shared.name.clone(), shared.threads), ..results.clone() };
    let (subject, bytes) = (result_subject(run, &shared.name), results.encode());
    let mut said = false;
    loop {
        let sent = async { Ok::<_, anyhow::Error>(js.publish(subject.clone(), bytes.clone().into()).await?.await?) };
        let Err(error) = sent.await else { return };
        if !std::mem::replace(&mut said, true) {
            (shared.note)(Note::Warning(format!("the server takes no results: {}", refusal(&error))));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Divides results into messages whose items have at most `most` bytes. An item that is longer is a failure of the job.
fn parts(results: Results, most: usize) -> Vec<Results> {
    let longest = results.items.iter().map(|(_, item)| item.len()).max().unwrap_or(0);
    if longest > most {
        let why = format!("a result has {longest} bytes, and the server takes {most}: raise its max_payload");
        return vec![Results { failed: Some(why), items: Vec::new(), ..results }];
    }
    let mut parts = vec![Results { items: Vec::new(), ..results.clone() }];
    let mut length = 0;
    for item in results.items {
        length += item.1.len();
        if length > most {
            parts.push(Results { items: Vec::new(), effort: [0; 6], ..parts[0].clone() });
            length = item.1.len();
        }
        parts.last_mut().expect("there is one").items.push(item);
    }
    parts
}

/// Reports to the server that the jobs here are still being played.
pub(super) async fn keep_alive(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        for acker in shared.table.due() {
            let _ = acker.ack_with(AckKind::Progress).await; // otherwise another worker gets it
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_divided_into_messages_that_the_server_takes() {
        let items: Vec<(usize, Vec<u8>)> = (0..50).map(|number| (number, vec![7; 100 * number])).collect();
        let results = Results { effort: [9; 6], items: items.clone(), ..Results::default() };
        let some = parts(results.clone(), 6000);
        assert!(some.iter().all(|part| part.items.iter().map(|(_, item)| item.len()).sum::<usize>() <= 6000));
        assert_eq!(some.iter().map(|part| part.effort[0]).sum::<u64>(), 9, "effort is counted once");
        assert_eq!(some.into_iter().flat_map(|part| part.items).collect::<Vec<_>>(), items);
        let long = parts(results, 4000);
        assert!(long.len() == 1 && long[0].failed.as_ref().is_some_and(|why| why.contains("has 4900 bytes")));
    }
}

//! A job of a worker, from its delivery to the acknowledgement after its results are stored, and what the threads and tasks of
//! a worker share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use async_nats::jetstream::Context;
use async_nats::jetstream::message::{AckKind, Acker};
use crossbeam_channel::{Receiver, Sender};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use turnstone_agents::search::Stop;
use turnstone_selfplay::{Games, Session};

use crate::link::{Note, TakeNote, lock, refusal};
use crate::messages::{Job, Results, result_subject};
use crate::server::ANSWER;
use crate::work::{Kind, Work};

/// Maximum length of the items of a message, if the server takes it, and room for all else of it.
const LONGEST_MESSAGE: usize = 512 << 10;
const BESIDES: usize = 32 << 10;
/// Pause after a failure of the server.
const PAUSE: Duration = Duration::from_millis(500);
/// Time after which a job that has failed is offered again.
const FAILED_AGAIN: Duration = Duration::from_secs(1);

/// Number of games of a match, or of positions, that a thread plays side by side.
pub(super) const AT_ONCE: usize = 24;

/// What the threads and tasks of a worker share.
pub(super) struct Shared {
    pub(super) program: String,
    pub(super) name: String,
    pub(super) games: Games,
    pub(super) threads: usize,
    /// Jobs that no thread has taken, all of one work.
    pub(super) jobs: (Sender<Held>, Receiver<Held>),
    /// Number of items whose results the server does not have yet.
    pub(super) open: AtomicUsize,
    /// Effort that no message has reported yet.
    pub(super) effort: Mutex<[u64; 6]>,
    pub(super) done: mpsc::UnboundedSender<Held>,
    /// Notified when there may be room for another job.
    pub(super) room: Notify,
    pub(super) stop: Stop,
    pub(super) handle: Handle,
    pub(super) note: TakeNote,
}

/// A work in memory.
pub(super) struct Loaded {
    pub(super) run: String,
    /// SHA-256 of the work.
    pub(super) sum: String,
    /// The work, or why it cannot be played.
    pub(super) work: Result<Work>,
    pub(super) ack_wait: Duration,
    /// Sessions of self-play by thread; a thread takes its session out while it plays.
    pub(super) sessions: Mutex<Vec<Option<Box<dyn Session>>>>,
    /// Set when its results are no longer needed.
    pub(super) is_over: AtomicBool,
}

impl Loaded {
    pub(super) fn new(run: &str, sum: &str, work: Result<Work>, ack_wait: Duration) -> Self {
        let (run, sum, is_over) = (run.to_owned(), sum.to_owned(), AtomicBool::new(false));
        Self { run, sum, work, ack_wait, sessions: Mutex::default(), is_over }
    }

    /// Number of items that a thread plays side by side at most.
    pub(super) fn seats(&self) -> usize {
        match self.work.as_ref().map(|work| &work.kind) {
            Ok(Kind::SelfPlay(task)) => task.settings.self_play.concurrent_games,
            _ => AT_ONCE,
        }
    }
}

/// A job that this worker has. If it is dropped before its results are sent, another worker gets it.
pub(super) struct Held {
    pub(super) run: String,
    pub(super) work: Arc<Loaded>,
    pub(super) results: Results,
    count: usize,
    shared: Arc<Shared>,
    acker: Arc<Acker>,
    /// Tells the server that the job is being played.
    keeper: JoinHandle<()>,
    is_done: bool,
}

impl Held {
    pub(super) fn new(shared: &Arc<Shared>, work: &Arc<Loaded>, job: &Job, delivered: i64, acker: Acker) -> Self {
        let acker = Arc::new(acker);
        let (spoken, every) = (Arc::clone(&acker), work.ack_wait / 3);
        let keeper = shared.handle.spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                let _ = spoken.ack_with(AckKind::Progress).await; // otherwise another worker gets it
            }
        });
        let (worker, sum) = ((shared.name.clone(), shared.threads), job.work.clone());
        let results = Results { work: sum, first: job.first, worker, delivered, ..Results::default() };
        shared.open.fetch_add(job.count, Ordering::Relaxed);
        let (run, work, shared) = (work.run.clone(), Arc::clone(work), Arc::clone(shared));
        Self { run, work, results, count: job.count, shared, acker, keeper, is_done: false }
    }

    /// Numbers of its items.
    pub(super) fn numbers(&self) -> std::ops::Range<usize> {
        self.results.first..self.results.first + self.count
    }

    pub(super) fn is_complete(&self) -> bool {
        self.results.items.len() == self.count || self.results.failed.is_some()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.keeper.abort();
        self.shared.open.fetch_sub(self.count, Ordering::Relaxed);
        self.shared.room.notify_one();
        if !self.is_done {
            let acker = Arc::clone(&self.acker);
            self.shared.handle.spawn(async move { drop(acker.ack_with(AckKind::Nak(None)).await) });
        }
    }
}

/// Sends the results of jobs, and acknowledges the jobs.
pub(super) async fn send(js: Context, shared: Arc<Shared>, mut jobs: mpsc::UnboundedReceiver<Held>) {
    while let Some(mut job) = jobs.recv().await {
        job.results.effort = std::mem::take(&mut *lock(&shared.effort));
        let most = LONGEST_MESSAGE.min(js.client().max_payload() - BESIDES);
        let parts = parts(std::mem::take(&mut job.results), most);
        for part in &parts {
            publish(&js, &shared, &job.run, part).await;
        }
        job.is_done = true;
        // If this message is lost, the job is played again, and the leader knows its results.
        if let Some(why) = &parts[0].failed {
            (shared.note)(Note::Warning(format!("run {}, item {}: {why}", job.run, parts[0].first)));
            let _ = job.acker.ack_with(AckKind::Nak(Some(FAILED_AGAIN))).await;
        } else {
            let _ = tokio::time::timeout(ANSWER, job.acker.double_ack()).await;
        }
    }
}

/// Publishes results until the server has stored them.
async fn publish(js: &Context, shared: &Shared, run: &str, results: &Results) {
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
    let empty = Results { items: Vec::new(), ..results.clone() };
    let longest = results.items.iter().map(|(_, item)| item.len()).max().unwrap_or(0);
    if longest > most {
        let why = format!("a result has {longest} bytes, and the server takes {most}: raise its max_payload");
        return vec![Results { failed: Some(why), ..empty }];
    }
    let (mut parts, mut length) = (vec![empty.clone()], 0);
    for item in results.items {
        length += item.1.len();
        if length > most {
            parts.push(Results { effort: [0; 6], ..empty.clone() });
            length = item.1.len();
        }
        parts.last_mut().expect("there is one").items.push(item);
    }
    parts
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

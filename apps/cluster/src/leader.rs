//! The leader of a run: puts jobs on the queue and collects their results by number.
//!
//! Results stay on the server until the next work begins, so that the next leader of a run continues where the one before was
//! killed. What the server loses is put on the queue again.

mod run;
mod cut;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::message::{Acker, Message};
use tokio::sync::mpsc;
use turnstone_models::Precision;

use self::cut::jobs;
use self::run::{Shared, keep_key, receive, run_name, take_key};
use crate::link::{
    FORGOTTEN_AFTER, Link, Note, TakeNote, ensure_storage, lock, put_work, refusal, remove_key, remove_pieces, sha256,
};
use crate::messages::{JOBS, Job, LEADERS, RESULTS, Results, Run, WORK, job_subject, result_subject};
use crate::probe::Probe;
use crate::server::{ServerOptions, shown};
use crate::status::WorkerStatus;

/// Time between two looks at the queue.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time that a leader waits for a server at its start.
const SERVER_PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of messages that are sent or taken together.
const AT_ONCE: usize = 256;
/// Number of reports that a job cannot be played at which the run ends.
const MOST_FAILURES: u32 = 3;
/// Number of workers that may be killed over a job. It is larger, since that is seldom the job's fault.
const MOST_DELIVERIES: i64 = 10;
/// Time after which the server offers a result again that the leader keeps there.
const RESULTS_COME_AGAIN: Duration = Duration::from_mins(1);
/// Longest description that a server stores for a queue.
const LONGEST_DESCRIPTION: usize = 4096;

/// Settings of a leader.
#[derive(Clone, Debug)]
pub struct LeaderSettings {
    /// Name and version of the program. Only workers of the same play for the run.
    pub program: String,
    /// The server.
    pub server: ServerOptions,
    /// Folder for the run's name, by which the next leader continues, and its status; without one, the run ends with its
    /// leader.
    pub folder: Option<PathBuf>,
    /// Time after which a job whose worker is silent is given to another.
    pub ack_wait: Duration,
}

/// The leader of a run.
pub struct Leader {
    link: Link,
    settings: LeaderSettings,
    run: String,
    /// The run's [`Run`] as JSON.
    description: String,
    has_same_floats: bool,
    note: TakeNote,
    pub(crate) shared: Arc<Shared>,
    kept: Mutex<Kept>,
}

/// What a leader keeps from one work to the next.
struct Kept {
    messages: mpsc::Receiver<Message>,
    /// The results of the last work by their sequence numbers. The server keeps them until the next work begins.
    unacknowledged: HashMap<u64, Acker>,
    /// Whether the server had the streams and consumers when it last took jobs.
    is_ready: bool,
}

/// Takes the outcome of the item with this number, or says what is wrong with it.
type PutItem<'a> = &'a mut dyn FnMut(usize, &[u8]) -> Result<Result<(), String>>;

/// The items of a work, and what its owner does with their outcomes.
pub(crate) struct Items<'a> {
    /// The work as workers fetch it.
    pub(crate) work: &'a [u8],
    /// What is being played, in a few words.
    pub(crate) stage: String,
    pub(crate) count: usize,
    /// Number of consecutive items that one job holds together, and the maximum number of items of a job.
    pub(crate) group: usize,
    pub(crate) most: usize,
    pub(crate) put: PutItem<'a>,
    /// Whether an item is still needed.
    pub(crate) is_needed: &'a dyn Fn(usize) -> bool,
    /// Takes the effort that workers report.
    pub(crate) effort: &'a mut dyn FnMut(&[u64; 6]),
    /// Takes the number of items received.
    pub(crate) progress: &'a dyn Fn(usize),
    pub(crate) stop: &'a AtomicBool,
}

/// The work that is being played.
struct Active<'i, 'a> {
    items: &'i mut Items<'a>,
    /// SHA-256 of the work.
    sum: String,
    /// Whether each item has an outcome.
    received: Vec<bool>,
    /// Number of failures of jobs by their first item.
    failures: HashMap<usize, u32>,
    began: Instant,
    /// When a message last arrived, or jobs were put on the queue.
    news: Instant,
    /// Whether the missing items are on the queue.
    is_published: bool,
    /// Items of each worker.
    by_worker: HashMap<String, u64>,
}

impl Active<'_, '_> {
    fn is_missing(&self, number: usize) -> bool {
        !self.received[number] && (self.items.is_needed)(number)
    }

    fn count(&self) -> usize {
        self.received.iter().filter(|received| **received).count()
    }
}

impl Leader {
    /// Connects to the server and takes the key of the run, under the name that an earlier leader of the same folder gave it.
    ///
    /// # Errors
    /// The server cannot be reached at first or lacks something, another leader has the key, or the folder cannot be
    /// written.
    pub fn new(
        settings: LeaderSettings,
        game: &dyn turnstone_env::DynGame,
        probe: Probe,
        note: TakeNote,
        stop: &AtomicBool,
    ) -> Result<Self> {
        let run = run_name(settings.folder.as_deref(), game.name())?;
        let link = Link::connect(&settings.server, &run, SERVER_PATIENCE, stop, &note)?;
        let began = Instant::now();
        while let Err(error) = link.wait(ensure_storage(&link.js)) {
            // A server that has just been started may not have read its store yet.
            if began.elapsed() > SERVER_PATIENCE || stop.load(Ordering::Relaxed) {
                return Err(error).with_context(|| format!("server {}", shown(&settings.server.url)));
            }
            std::thread::sleep(Duration::from_millis(300));
        }
        let has_same_floats = probe.precision == Precision::F32;
        let (program, params) = (settings.program.clone(), game.params());
        let about = Run { program, game: game.name().to_owned(), version: game.version(), params, probe };
        let description = serde_json::to_string(&about).context("the run's description")?;
        ensure!(description.len() <= LONGEST_DESCRIPTION, "the settings of game, network and search are too long");
        let shared = Arc::new(Shared::new(&run, game.name(), settings.folder.clone()));
        let revision = link.wait(take_key(&link.js, &shared, stop, &note))?;
        let (sender, messages) = mpsc::channel(AT_ONCE);
        let kept = Mutex::new(Kept { messages, unacknowledged: HashMap::new(), is_ready: false });
        // An earlier leader's results come again at once when its consumer is made anew.
        let _ = link.wait(link.js.delete_consumer_from_stream(&run, RESULTS));
        link.spawn(keep_key(link.js.clone(), Arc::clone(&shared), revision));
        link.spawn(receive(link.js.clone(), run.clone(), sender));
        note(Note::Line(format!("leading {run} on {}", shown(&settings.server.url))));
        Ok(Self { link, settings, run, description, has_same_floats, note, shared, kept })
    }

    /// Whether all workers compute with the floats of this machine, as the self-test has shown. Otherwise it has shown
    /// that only of integers.
    #[must_use]
    pub fn has_same_floats(&self) -> bool {
        self.has_same_floats
    }

    fn warning(&self, text: String) {
        (self.note)(Note::Warning(text));
    }

    /// Has workers play the items of a work. Returns false if `stop` was set before the end.
    pub(crate) fn carry_out(&self, items: &mut Items<'_>) -> Result<bool> {
        let mut kept = lock(&self.kept);
        let acks = std::mem::take(&mut kept.unacknowledged);
        self.link.wait(acknowledge(acks.into_values()));
        let (sum, count, now) = (sha256(items.work), items.count, Instant::now());
        let mut active = Active {
            items,
            sum,
            received: vec![false; count],
            failures: HashMap::new(),
            began: now,
            news: now,
            is_published: false,
            by_worker: HashMap::new(),
        };
        {
            let mut status = lock(&self.shared.status);
            (status.stage, status.items) = (active.items.stage.clone(), [0, count as u64]);
            status.workers.values_mut().for_each(|worker| worker.rate = 0.0);
        }
        let done = self.collect(&mut active, &mut kept);
        lock(&self.shared.status).stage.clear();
        done
    }

    /// Puts jobs on the queue and collects results until nothing is missing. Returns false if `stop` was set before.
    fn collect(&self, active: &mut Active<'_, '_>, kept: &mut Kept) -> Result<bool> {
        let (mut looked, mut is_failing, mut without) = (Instant::now(), false, 0);
        loop {
            if active.items.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            if !(0..active.received.len()).any(|number| active.is_missing(number)) {
                return Ok(true);
            }
            ensure!(!self.shared.is_lost.load(Ordering::Relaxed), "another leader has taken over run {}", self.run);
            if !active.is_published {
                let published = self.publish(active, kept);
                (active.is_published, kept.is_ready) = (published.is_ok(), published.is_ok());
                if let Err(error) = published {
                    if !std::mem::replace(&mut is_failing, true) {
                        let stage = &active.items.stage;
                        self.warning(format!("{stage}: the server takes no jobs: {}", refusal(&error)));
                    }
                    std::thread::sleep(LOOK_EVERY);
                    continue;
                }
                is_failing = false;
            }
            self.receive_some(active, kept)?;
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                self.look(active, kept, &mut without)?;
            }
        }
    }

    /// Stores the work, and puts the missing items on the queue in place of what is there.
    fn publish(&self, active: &mut Active<'_, '_>, kept: &Kept) -> Result<()> {
        let missing: Vec<usize> = (0..active.received.len()).filter(|&number| active.is_missing(number)).collect();
        let (js, run, subject) = (&self.link.js, &self.run, job_subject(&self.run));
        self.link.wait(async {
            if !kept.is_ready {
                ensure_storage(js).await?;
                let consumer = |filter: String| pull::Config {
                    durable_name: Some(run.clone()),
                    filter_subject: filter,
                    ack_policy: AckPolicy::Explicit,
                    inactive_threshold: FORGOTTEN_AFTER,
                    max_ack_pending: 100_000,
                    ..pull::Config::default()
                };
                let queue = pull::Config {
                    description: Some(self.description.clone()),
                    ack_wait: self.settings.ack_wait,
                    max_deliver: MOST_DELIVERIES,
                    ..consumer(subject.clone())
                };
                js.create_consumer_on_stream(queue, JOBS).await.context("the queue of the run")?;
                let results = pull::Config { ack_wait: RESULTS_COME_AGAIN, ..consumer(result_subject(run, "*")) };
                js.create_consumer_on_stream(results, RESULTS).await.context("the results of the run")?;
            }
            js.get_stream_no_info(JOBS).await?.purge().filter(&subject).await.context("emptying the queue")?;
            let pieces = put_work(js, run, active.items.work).await.context("storing the work")?;
            let new = |(first, count)| Job { work: active.sum.clone(), pieces, first, count };
            let jobs: Vec<Job> = jobs(&missing, active.items.group, active.items.most).into_iter().map(new).collect();
            for some in jobs.chunks(AT_ONCE) {
                let mut acks = Vec::new();
                for job in some {
                    acks.push(js.publish(subject.clone(), serde_json::to_vec(job)?.into()).await?);
                }
                for ack in acks {
                    ack.await?;
                }
            }
            Ok::<_, anyhow::Error>(())
        })?;
        active.news = Instant::now();
        Ok(())
    }

    /// Takes the messages that have arrived, or waits a moment for one.
    fn receive_some(&self, active: &mut Active<'_, '_>, kept: &mut Kept) -> Result<()> {
        let mut messages = Vec::new();
        let receiving = kept.messages.recv_many(&mut messages, AT_ONCE);
        let _ = self.link.wait(async { tokio::time::timeout(Duration::from_millis(100), receiving).await });
        let mut done = Vec::new();
        for message in messages {
            let worker = message.subject.rsplit('.').next().unwrap_or_default();
            let is_kept = match Results::decode(&message.payload) {
                Ok(results) if results.work == active.sum => {
                    self.take(active, &results)?;
                    results.failed.is_none()
                }
                Ok(_) => false,
                Err(fault) => {
                    self.warning(format!("a result of worker {worker} is refused: {fault:#}"));
                    false
                }
            };
            let sequence = message.info().map_or(0, |info| info.stream_sequence);
            let acker = message.split().1;
            if is_kept {
                kept.unacknowledged.insert(sequence, acker);
            } else {
                done.push(acker);
            }
        }
        self.link.wait(acknowledge(done.into_iter()));
        Ok(())
    }

    /// Takes results of the active work.
    fn take(&self, active: &mut Active<'_, '_>, results: &Results) -> Result<()> {
        let (worker, threads) = &results.worker;
        if let Some(why) = &results.failed {
            let failures = active.failures.entry(results.first).or_default();
            *failures += 1;
            lock(&self.shared.status).jobs[2] += 1;
            let what = format!("{}, item {} on worker {worker}: {why}", active.items.stage, results.first);
            ensure!(*failures < MOST_FAILURES, "{what} (it has failed {failures} times)");
            self.warning(format!("{what}; trying again"));
            return Ok(());
        }
        let mut new = 0;
        for (number, item) in &results.items {
            let fault = match active.received.get(*number) {
                None => Err("it is not one of the work's".to_owned()),
                Some(true) => continue,
                Some(false) => (active.items.put)(*number, item)?,
            };
            match fault {
                Ok(()) => {
                    active.received[*number] = true;
                    new += 1;
                }
                Err(fault) => self.warning(format!("a result of worker {worker} is refused: item {number}: {fault}")),
            }
        }
        if new == 0 {
            return Ok(()); // the job was played twice, or the message has come again
        }
        (active.items.effort)(&results.effort);
        active.news = Instant::now();
        let count = active.count();
        (active.items.progress)(count);
        let of_worker = active.by_worker.entry(worker.clone()).or_default();
        *of_worker += new;
        let rate = *of_worker as f64 / active.began.elapsed().as_secs_f64().max(0.001);
        let mut status = lock(&self.shared.status);
        status.items[0] = count as u64;
        status.positions += results.effort[0];
        status.jobs[0] += 1;
        status.jobs[1] += results.delivered.saturating_sub(1).max(0) as u64;
        let known = status.workers.get(worker).copied();
        let known = known.unwrap_or_else(|| {
            (self.note)(Note::Line(format!(
                "worker {worker} plays with {threads} thread{}",
                if *threads == 1 { "" } else { "s" }
            )));
            WorkerStatus::default()
        });
        status.workers.insert(worker.clone(), WorkerStatus { threads: *threads, items: known.items + new, rate });
        Ok(())
    }

    /// Looks at the queue: puts the missing items on it again if no worker has them, and ends the run if one of its jobs is
    /// delivered no more. `without` is the number of looks that have found no worker.
    fn look(&self, active: &mut Active<'_, '_>, kept: &mut Kept, without: &mut u32) -> Result<()> {
        let found = self.link.wait(async {
            let results: Consumer<pull::Config> = self.link.js.get_consumer_from_stream(&self.run, RESULTS).await?;
            let queue: Consumer<pull::Config> = self.link.js.get_consumer_from_stream(&self.run, JOBS).await?;
            Ok::<_, anyhow::Error>((queue.cached_info().clone(), results.cached_info().num_pending))
        });
        let Ok((queue, unread)) = found else {
            // The server is unreachable, or has lost its store.
            if self.link.client.connection_state() == async_nats::connection::State::Connected {
                (active.is_published, kept.is_ready) = (false, false);
            }
            return Ok(());
        };
        *without = if queue.num_waiting + queue.num_ack_pending == 0 { *without + 1 } else { 0 };
        if queue.num_pending > 0 && (*without == 3 || (*without > 0 && without.is_multiple_of(60))) {
            let url = shown(&self.settings.server.url);
            (self.note)(Note::Line(format!("waiting for workers; start one with: turnstone worker {url}")));
        }
        let is_idle = queue.num_pending == 0 && queue.num_ack_pending == 0 && unread == 0;
        if !is_idle || !kept.messages.is_empty() || active.news.elapsed() < 2 * LOOK_EVERY {
            return Ok(());
        }
        let left = self.link.wait(async {
            let stream = self.link.js.get_stream_no_info(JOBS).await?;
            Ok::<_, anyhow::Error>(stream.get_last_raw_message_by_subject(&job_subject(&self.run)).await.ok())
        });
        if let Ok(Some(message)) = left {
            let job: Job = serde_json::from_slice(&message.payload)?;
            bail!(
                "{}, items {} to {}: {MOST_DELIVERIES} workers were killed over this job or fell silent (see what they say, \
                 and whether their memory is enough)",
                active.items.stage,
                job.first,
                job.first + job.count - 1
            );
        }
        active.is_published = false;
        Ok(())
    }

    /// Ends the run for good: removes its data from the server, and its folder.
    pub fn finish(self) {
        self.end();
        if let Some(folder) = &self.settings.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
        let (items, [jobs, again, _]) = {
            let status = lock(&self.shared.status);
            (status.workers.values().map(|worker| worker.items).sum::<u64>(), status.jobs)
        };
        (self.note)(Note::Line(format!("{items} items of workers in {jobs} jobs, {again} delivered again")));
    }

    /// Removes the run from the server, which would forget it after some days anyway.
    fn end(&self) {
        let acks = std::mem::take(&mut lock(&self.kept).unacknowledged);
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.link.wait(async {
            acknowledge(acks.into_values()).await;
            for (stream, subject) in [(JOBS, job_subject(&self.run)), (RESULTS, result_subject(&self.run, "*"))] {
                let _ = self.link.js.delete_consumer_from_stream(&self.run, stream).await;
                if let Ok(stream) = self.link.js.get_stream_no_info(stream).await {
                    let _ = stream.purge().filter(subject).await;
                }
            }
            if let Ok(store) = self.link.js.get_key_value(WORK).await {
                let _ = remove_pieces(&store, &self.run, 0).await;
            }
        });
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // No leader can continue without a folder.
        if self.settings.folder.is_none() && !self.shared.is_over.load(Ordering::Relaxed) {
            self.end();
        }
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.link.wait(async {
            if let Ok(store) = self.link.js.get_key_value(LEADERS).await
                && !self.shared.is_lost.load(Ordering::Relaxed)
            {
                let _ = remove_key(&store, &self.run).await;
            }
        });
    }
}

async fn acknowledge(messages: impl Iterator<Item = Acker>) {
    for message in messages {
        let _ = message.ack().await; // without it the message comes again, and is known then
    }
}

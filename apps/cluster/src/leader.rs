//! The leader of a run: puts jobs on the queue and collects their results by number.
//!
//! Results stay on the server until the next work begins, so that the next leader of a run continues where the one before was
//! killed. What the server loses is put on the queue again.

mod cut;
mod key;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::message::{Acker, Message};
use futures_util::StreamExt;
use tokio::time::{sleep, timeout};
use turnstone_agents::search::Stop;
use turnstone_models::Precision;

use self::cut::jobs;
use self::key::{Key, keep, run_name, take};
use crate::link::{
    FORGOTTEN_AFTER, Link, Note, SERVER_PATIENCE, TakeNote, ensure_storage, lock, put_work, refusal, remove_work,
};
use crate::messages::{JOBS, Job, RESULTS, Results, Run, job_subject, result_subject};
use crate::probe::Probe;
use crate::server::{ServerOptions, shown};
use crate::status::WorkerStatus;
use crate::wire::sha256;

/// Time between two looks at the queue.
const LOOK_EVERY: Duration = Duration::from_secs(1);
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
    pub(crate) key: Arc<Key>,
    kept: Mutex<Kept>,
}

/// What a leader keeps from one work to the next.
#[derive(Default)]
struct Kept {
    /// The results of the last work by their sequence numbers. The server keeps them until the next work begins.
    results: HashMap<u64, Acker>,
    workers: BTreeSet<String>,
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
    /// Takes the effort that workers report, and the number of items received.
    pub(crate) progress: &'a mut dyn FnMut([u64; 6], usize),
    pub(crate) stop: &'a Stop,
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
    /// When results last arrived, or jobs were put on the queue.
    news: Instant,
    /// Number of looks that have found no worker.
    without: u32,
}

impl Active<'_, '_> {
    fn missing(&self) -> impl Iterator<Item = usize> {
        (0..self.received.len()).filter(|&number| !self.received[number] && (self.items.is_needed)(number))
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
        stop: &Stop,
    ) -> Result<Self> {
        let run = run_name(settings.folder.as_deref(), game.name())?;
        let link = Link::connect(&settings.server, &run, SERVER_PATIENCE, stop, &note)?;
        let has_same_floats = probe.precision == Precision::F32;
        let (program, params) = (settings.program.clone(), game.params());
        let about = Run { program, game: game.name().to_owned(), version: game.version(), params, probe };
        let description = serde_json::to_string(&about).context("the run's description")?;
        ensure!(description.len() <= LONGEST_DESCRIPTION, "the settings of game, network and search are too long");
        let key = Arc::new(Key::new(&run, game.name(), settings.folder.clone()));
        let url = shown(&settings.server.url);
        link.wait(take(&link.js, &key, stop, &note)).with_context(|| format!("server {url}"))?;
        // An earlier leader's results come again at once when its consumer is made anew.
        let _ = link.wait(link.js.delete_consumer_from_stream(&run, RESULTS));
        link.handle().spawn(keep(link.js.clone(), Arc::clone(&key)));
        note(Note::Line(format!("leading {run} on {url}")));
        Ok(Self { link, settings, run, description, has_same_floats, note, key, kept: Mutex::default() })
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

    /// Has workers play the items of a work. Returns false if `stop` was raised before the end.
    pub(crate) fn carry_out(&self, items: &mut Items<'_>) -> Result<bool> {
        let (sum, received, now) = (sha256(items.work), vec![false; items.count], Instant::now());
        {
            let mut status = lock(&self.key.status);
            (status.stage, status.items) = (items.stage.clone(), [0, items.count as u64]);
            status.workers.clear();
        }
        let mut active = Active { items, sum, received, failures: HashMap::new(), began: now, news: now, without: 0 };
        let done = self.link.wait(self.collect(&mut active, &mut lock(&self.kept)));
        lock(&self.key.status).stage.clear();
        done
    }

    /// Puts jobs on the queue and collects results until nothing is missing. Returns false if `stop` was raised before.
    async fn collect(&self, active: &mut Active<'_, '_>, kept: &mut Kept) -> Result<bool> {
        acknowledge(std::mem::take(&mut kept.results).into_values()).await;
        let (mut looked, mut is_failing) = (Instant::now(), false);
        let (mut is_published, mut messages) = (false, None);
        while active.missing().next().is_some() {
            if active.items.stop.is_raised() {
                return Ok(false);
            }
            ensure!(!self.key.is_lost.load(Ordering::Relaxed), "another leader has taken over run {}", self.run);
            if !is_published {
                if let Err(error) = self.publish(active).await {
                    if !std::mem::replace(&mut is_failing, true) {
                        let stage = &active.items.stage;
                        self.warning(format!("{stage}: the server takes no jobs: {}", refusal(&error)));
                    }
                    sleep(LOOK_EVERY).await;
                    continue;
                }
                (is_published, is_failing, messages) = (true, false, None);
            }
            if messages.is_none() {
                messages = self.messages().await.ok();
            }
            match &mut messages {
                Some(stream) => match timeout(Duration::from_millis(100), stream.next()).await {
                    Ok(Some(Ok(message))) => self.take(active, kept, message).await?,
                    Ok(_) => messages = None, // the server is away
                    Err(_) => {}
                },
                None => sleep(Duration::from_millis(300)).await,
            }
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                is_published = self.look(active).await?;
            }
        }
        Ok(true)
    }

    /// Stores the work, and puts the missing items on the queue in place of what is there.
    async fn publish(&self, active: &mut Active<'_, '_>) -> Result<()> {
        let (js, run, subject) = (&self.link.js, &self.run, job_subject(&self.run));
        ensure_storage(js).await?;
        let consumer = |filter: String, ack_wait| pull::Config {
            durable_name: Some(run.clone()),
            filter_subject: filter,
            ack_policy: AckPolicy::Explicit,
            ack_wait,
            inactive_threshold: FORGOTTEN_AFTER,
            max_ack_pending: 100_000,
            ..pull::Config::default()
        };
        let (description, max_deliver) = (Some(self.description.clone()), MOST_DELIVERIES);
        let queue = pull::Config { description, max_deliver, ..consumer(subject.clone(), self.settings.ack_wait) };
        js.create_consumer_on_stream(queue, JOBS).await.context("the queue of the run")?;
        let results = consumer(result_subject(run, "*"), RESULTS_COME_AGAIN);
        js.create_consumer_on_stream(results, RESULTS).await.context("the results of the run")?;
        js.get_stream_no_info(JOBS).await?.purge().filter(&subject).await.context("emptying the queue")?;
        let pieces = put_work(js, run, active.items.work).await.context("storing the work")?;
        let missing: Vec<usize> = active.missing().collect();
        for some in jobs(&missing, active.items.group, active.items.most).chunks(AT_ONCE) {
            let mut acks = Vec::new();
            for &(first, count) in some {
                let job = Job { work: active.sum.clone(), pieces, first, count };
                acks.push(js.publish(subject.clone(), serde_json::to_vec(&job)?.into()).await?);
            }
            for ack in acks {
                ack.await?;
            }
        }
        active.news = Instant::now();
        Ok(())
    }

    /// The results of the run as they arrive.
    async fn messages(&self) -> Result<pull::Stream> {
        let consumer: Consumer<pull::Config> = self.link.js.get_consumer_from_stream(&self.run, RESULTS).await?;
        let stream = consumer.stream().max_messages_per_batch(AT_ONCE).expires(Duration::from_secs(10));
        Ok(stream.heartbeat(Duration::from_secs(2)).messages().await?)
    }

    /// Takes a message. The server keeps results of the active work.
    async fn take(&self, active: &mut Active<'_, '_>, kept: &mut Kept, message: Message) -> Result<()> {
        let sequence = message.info().map_or(0, |info| info.stream_sequence);
        let (message, acker) = message.split();
        match Results::decode(&message.payload) {
            Ok(results) if results.work == active.sum && results.failed.is_none() => {
                self.take_results(active, kept, &results)?;
                kept.results.insert(sequence, acker);
                return Ok(());
            }
            Ok(Results { work, first, worker, failed: Some(why), .. }) if work == active.sum => {
                let failures = active.failures.entry(first).or_default();
                *failures += 1;
                lock(&self.key.status).jobs[2] += 1;
                let what = format!("{}, item {first} on worker {}: {why}", active.items.stage, worker.0);
                ensure!(*failures < MOST_FAILURES, "{what} (it has failed {failures} times)");
                self.warning(format!("{what}; trying again"));
            }
            Ok(_) => {} // of a work that is over
            Err(fault) => self.warning(format!("a result on {} is refused: {fault:#}", message.subject)),
        }
        acknowledge([acker].into_iter()).await;
        Ok(())
    }

    fn take_results(&self, active: &mut Active<'_, '_>, kept: &mut Kept, results: &Results) -> Result<()> {
        let ((worker, threads), mut new) = (&results.worker, 0);
        for (number, item) in &results.items {
            let taken = match active.received.get(*number) {
                Some(false) => (active.items.put)(*number, item)?,
                Some(true) => continue, // the job was played twice, or the message has come again
                None => Err("it is not one of the work's".to_owned()),
            };
            match taken {
                Ok(()) => (active.received[*number], new) = (true, new + 1),
                Err(fault) => self.warning(format!("a result of worker {worker} is refused: item {number}: {fault}")),
            }
        }
        if new == 0 {
            return Ok(());
        }
        active.news = Instant::now();
        let count = active.received.iter().filter(|received| **received).count();
        (active.items.progress)(results.effort, count);
        if kept.workers.insert(worker.clone()) {
            let plural = if *threads == 1 { "" } else { "s" };
            (self.note)(Note::Line(format!("worker {worker} plays with {threads} thread{plural}")));
        }
        let mut status = lock(&self.key.status);
        status.items[0] = count as u64;
        status.jobs[0] += 1;
        status.jobs[1] += u64::try_from(results.delivered - 1).unwrap_or(0);
        let items = new + status.workers.get(worker).map_or(0, |of| of.items);
        let rate = items as f64 / active.began.elapsed().as_secs_f64().max(0.001);
        status.workers.insert(worker.clone(), WorkerStatus { threads: *threads, items, rate });
        Ok(())
    }

    /// Looks at the queue. Returns false if the missing items must be put on it again: the server has lost its store, or no
    /// worker has them. Fails if one of the jobs is delivered no more.
    async fn look(&self, active: &mut Active<'_, '_>) -> Result<bool> {
        let js = &self.link.js;
        let found = async {
            let results: Consumer<pull::Config> = js.get_consumer_from_stream(&self.run, RESULTS).await?;
            let queue: Consumer<pull::Config> = js.get_consumer_from_stream(&self.run, JOBS).await?;
            Ok::<_, anyhow::Error>((queue.cached_info().clone(), results.cached_info().num_pending))
        };
        let Ok((queue, unread)) = found.await else {
            return Ok(self.link.client.connection_state() != async_nats::connection::State::Connected);
        };
        active.without = if queue.num_waiting + queue.num_ack_pending == 0 { active.without + 1 } else { 0 };
        if queue.num_pending > 0 && (active.without == 3 || (active.without > 0 && active.without.is_multiple_of(60))) {
            let url = shown(&self.settings.server.url);
            (self.note)(Note::Line(format!("waiting for workers; start one with: turnstone worker {url}")));
        }
        if queue.num_pending + queue.num_ack_pending as u64 + unread > 0 || active.news.elapsed() < 2 * LOOK_EVERY {
            return Ok(true);
        }
        let stream = js.get_stream_no_info(JOBS).await?;
        let Ok(left) = stream.get_last_raw_message_by_subject(&job_subject(&self.run)).await else { return Ok(false) };
        let job: Job = serde_json::from_slice(&left.payload)?;
        bail!(
            "{}, items {} to {}: {MOST_DELIVERIES} workers were killed over this job or fell silent (see what they say, and \
             whether their memory is enough)",
            active.items.stage,
            job.first,
            job.first + job.count - 1
        );
    }

    /// Ends the run for good: removes its data from the server, and its folder.
    pub fn finish(self) {
        self.end();
        if let Some(folder) = &self.settings.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
        let [jobs, again, _] = lock(&self.key.status).jobs;
        (self.note)(Note::Line(format!("workers played {jobs} jobs, {again} were delivered again")));
    }

    /// Removes the run from the server, which would forget it after some days anyway.
    fn end(&self) {
        let results = std::mem::take(&mut lock(&self.kept).results);
        self.key.is_over.store(true, Ordering::Relaxed);
        self.link.wait(async {
            acknowledge(results.into_values()).await;
            for (stream, subject) in [(JOBS, job_subject(&self.run)), (RESULTS, result_subject(&self.run, "*"))] {
                let _ = self.link.js.delete_consumer_from_stream(&self.run, stream).await;
                if let Ok(stream) = self.link.js.get_stream_no_info(stream).await {
                    let _ = stream.purge().filter(subject).await;
                }
            }
            let _ = remove_work(&self.link.js, &self.run, 0).await;
        });
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // No leader can continue without a folder.
        if self.settings.folder.is_none() && !self.key.is_over.load(Ordering::Relaxed) {
            self.end();
        }
        self.key.is_over.store(true, Ordering::Relaxed);
        self.link.wait(key::release(&self.link.js, &self.key));
    }
}

async fn acknowledge(messages: impl Iterator<Item = Acker>) {
    for message in messages {
        let _ = message.ack().await; // without it the message comes again, and is known then
    }
}

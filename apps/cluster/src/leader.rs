//! The leader of a run: puts jobs on the queue and collects their results by number.
//!
//! Results stay on the server until the next work begins, so that the next leader of a run continues where the one before was
//! killed. What the server loses is put on the queue again.

mod cut;
mod key;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::stream::ConsumerErrorKind;
use clap::Args;
use futures_util::future::{ready, try_join_all};
use futures_util::{StreamExt, stream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use turnstone_agents::search::Stop;
use turnstone_base::terminal::Reporter;

use self::cut::jobs;
use self::key::{Key, keep, run_name, take};
use crate::link::{FORGOTTEN_AFTER, Link, PATIENCE, ensure_storage, lock, put_work, refusal, remove_work};
use crate::messages::{JOBS, Job, Played, RESULTS, job_subject, result_subject, sha256};
use crate::probe::{Probe, Run};
use crate::server::Credentials;

/// Time between two looks at the queue.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Number of failures of a job at which the run ends.
const MOST_FAILURES: u32 = 3;
/// Number of workers that may be killed over a job before it is put on the queue again, which is done once. It is larger, since
/// that is seldom the job's fault.
const MOST_DELIVERIES: i64 = 5;

/// Number of results that are removed at the same time.
const MOST_REQUESTS: usize = 256;

/// The cluster of a command.
#[derive(Args, Clone, PartialEq, Debug, Default)]
#[command(next_help_heading = "Cluster")]
pub struct LeaderOptions {
    /// NATS server whose workers play the games (see `turnstone worker`); the result is the same
    #[arg(long = "cluster", id = "cluster", value_name = "URL")]
    pub url: Option<String>,
    /// Seconds after which the games of a silent worker are given to another [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub ack_wait: Option<u64>,
    /// Credentials for the server.
    #[command(flatten)]
    pub credentials: Credentials,
}

/// The leader of a run.
pub struct Leader {
    link: Link,
    url: String,
    /// For the run's name, by which the next leader continues, and its status; without one, the run ends with its leader.
    folder: Option<PathBuf>,
    run: String,
    /// The run's queue of jobs; its description is the [`Run`] as JSON.
    queue: pull::Config,
    reporter: Arc<Reporter>,
    key: Arc<Key>,
    keeper: JoinHandle<()>,
    /// Sequence numbers of the last work's results. The server has them until the next work begins.
    results: Mutex<Vec<u64>>,
}

/// Takes the outcome of the item with this number, or says what is wrong with it.
type Put<'a> = &'a mut dyn FnMut(usize, &[u8]) -> Result<Result<(), String>>;

/// The items of a work, and what its owner does with their outcomes.
pub(crate) struct Items<'a> {
    /// The work as workers fetch it.
    pub(crate) work: &'a [u8],
    /// Description of the work in a few words.
    pub(crate) stage: String,
    pub(crate) count: usize,
    pub(crate) put: Put<'a>,
    /// Whether an item is still needed.
    pub(crate) is_needed: &'a dyn Fn(usize) -> bool,
    pub(crate) stop: &'a Stop,
}

/// The work that is being played.
struct Active<'i, 'a> {
    items: &'i mut Items<'a>,
    /// SHA-256 of the work.
    sum: String,
    /// Whether each item has an outcome.
    received: Vec<bool>,
    /// Number of failures by item.
    failures: BTreeMap<usize, u32>,
    began: Instant,
    /// When a result last arrived, or jobs were put on the queue.
    news: Instant,
    /// Number of looks that have found no worker.
    without: u32,
    /// Items of the last job that was on the server and yet not delivered.
    stuck: Range<usize>,
}

impl Active<'_, '_> {
    fn missing(&self) -> impl Iterator<Item = usize> {
        (0..self.received.len()).filter(|&number| !self.received[number] && (self.items.is_needed)(number))
    }
}

impl Leader {
    /// Connects to the server and takes the key of the run, under the name that an earlier leader of the same folder gave it.
    /// Workers of this program play for it.
    ///
    /// # Errors
    /// The server cannot be reached at first or lacks something, another leader has the key, or the folder cannot be
    /// written.
    pub fn new(
        options: &LeaderOptions,
        program: &str,
        folder: Option<PathBuf>,
        game: &dyn turnstone_env::DynGame,
        probe: Probe,
        reporter: Reporter,
        stop: &Stop,
    ) -> Result<Self> {
        let url = options.url.clone().context("--cluster is missing")?;
        let (run, reporter) = (run_name(folder.as_deref(), game.name())?, Arc::new(reporter));
        let link = Link::connect(&url, &options.credentials, &run, PATIENCE, stop, &reporter)?;
        let (program, params) = (program.to_owned(), game.params());
        let about = Run { program, game: game.name().to_owned(), version: game.version(), params, probe };
        let queue = pull::Config {
            durable_name: Some(run.clone()),
            description: Some(serde_json::to_string(&about).context("the run's description")?),
            filter_subject: job_subject(&run),
            ack_policy: AckPolicy::Explicit,
            ack_wait: Duration::from_secs(options.ack_wait.unwrap_or(30)),
            max_deliver: MOST_DELIVERIES,
            inactive_threshold: FORGOTTEN_AFTER,
            max_ack_pending: 100_000,
            ..pull::Config::default()
        };
        let key = Arc::new(Key::new(&run, game.name(), folder.clone()));
        link.wait(take(&link.js, &key, stop, &reporter)).with_context(|| format!("server {url}"))?;
        let keeper = link.spawn(keep(link.js.clone(), Arc::clone(&key)));
        reporter.line(&format!("leading {run} on {url}"));
        Ok(Self { link, url, folder, run, queue, reporter, key, keeper, results: Mutex::default() })
    }

    /// Has workers play the items of a work. Returns false if `stop` was set before the end.
    pub(crate) fn carry_out(&self, items: &mut Items<'_>) -> Result<bool> {
        let (sum, received, now) = (sha256(items.work), vec![false; items.count], Instant::now());
        {
            let mut status = lock(&self.key.status);
            (status.stage, status.items) = (items.stage.clone(), [0, items.count as u64]);
            status.workers.clear();
        }
        let (failures, stuck) = (BTreeMap::new(), 0..0);
        let mut active = Active { items, sum, received, failures, began: now, news: now, without: 0, stuck };
        let done = self.link.wait(self.collect(&mut active));
        lock(&self.key.status).stage.clear();
        done
    }

    /// Puts jobs on the queue and collects results until nothing is missing. Returns false if `stop` was set before.
    async fn collect(&self, active: &mut Active<'_, '_>) -> Result<bool> {
        let (mut results, mut looked, mut is_failing) = (None, Instant::now(), false);
        while active.missing().next().is_some() {
            if active.items.stop.is_raised() {
                return Ok(false);
            }
            ensure!(!self.key.is_lost.load(Ordering::Relaxed), "another leader has taken over run {}", self.run);
            let Some(messages) = &mut results else {
                match self.publish(active).await {
                    Ok(messages) => (results, is_failing) = (Some(messages), false),
                    Err(error) => {
                        self.remove_results().await; // they may be what takes the room
                        if !std::mem::replace(&mut is_failing, true) {
                            let stage = &active.items.stage;
                            self.reporter.warning(&format!("{stage}: the server takes no jobs: {}", refusal(&error)));
                        }
                        sleep(LOOK_EVERY).await;
                    }
                }
                continue;
            };
            match timeout(Duration::from_millis(100), messages.next()).await {
                Ok(Some(Ok(message))) => self.take(active, message).await?,
                Ok(_) => results = None,
                Err(_) => {}
            }
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                if !self.look(active).await? {
                    results = None;
                }
            }
        }
        Ok(true)
    }

    /// Stores the work, and puts the missing items on the queue, replacing what is there. Returns the results of the run, first
    /// those that are there already.
    async fn publish(&self, active: &mut Active<'_, '_>) -> Result<pull::Ordered> {
        let (js, run, subject) = (&self.link.js, &self.run, job_subject(&self.run));
        ensure_storage(js).await?;
        js.create_consumer_on_stream(self.queue.clone(), JOBS).await.context("the queue of the run")?;
        js.get_stream_no_info(JOBS).await?.purge().filter(&subject).await.context("emptying the queue")?;
        let pieces = put_work(js, run, active.items.work).await.context("storing the work")?;
        let missing: Vec<usize> = active.missing().collect();
        let mut acks = Vec::new();
        for (first, count) in jobs(&missing) {
            let job = Job { work: active.sum.clone(), pieces, first, count };
            acks.push(js.publish(subject.clone(), serde_json::to_vec(&job)?.into()).await?.into_future());
        }
        try_join_all(acks).await?;
        active.news = Instant::now();
        self.remove_results().await; // while workers play
        let config = pull::OrderedConfig { filter_subject: result_subject(run, "*"), ..Default::default() };
        let results: Consumer<pull::OrderedConfig> = js.create_consumer_on_stream(config, RESULTS).await?;
        Ok(results.messages().await?)
    }

    /// Takes a message of results. Fails if an item has failed for the last time.
    async fn take(&self, active: &mut Active<'_, '_>, message: Message) -> Result<()> {
        active.news = Instant::now();
        let sequence = message.info().map_or(0, |info| info.stream_sequence);
        match Played::decode(&message.payload) {
            Ok(played) if played.work == active.sum => {
                if self.put(active, played)? {
                    lock(&self.results).push(sequence);
                    return Ok(());
                }
            }
            Ok(_) => {} // of a work that is over
            Err(fault) => self.reporter.warning(&format!("a result on {} is refused: {fault:#}", message.subject)),
        }
        let _ = self.link.js.get_stream_no_info(RESULTS).await?.delete_message(sequence).await;
        Ok(())
    }

    /// Takes the outcomes of items. Returns false if one of them has failed.
    fn put(&self, active: &mut Active<'_, '_>, played: Played) -> Result<bool> {
        let Played { worker: (worker, threads), deliveries, items, .. } = played;
        let (mut is_sound, mut is_new, stage) = (true, false, active.items.stage.clone());
        for (item, outcome) in items {
            let fault = match (outcome, active.received.get(item)) {
                (Err(why), _) => why,
                (Ok(_), None) => "it is not one of the work's".to_owned(),
                (Ok(_), Some(true)) => continue, // the job was played twice, or the message has come again
                (Ok(outcome), Some(false)) => match (active.items.put)(item, &outcome)? {
                    Err(fault) => format!("its result is refused: {fault}"),
                    Ok(()) => {
                        (active.received[item], is_new) = (true, true);
                        let mut status = lock(&self.key.status);
                        status.items[0] += 1;
                        let of = status.workers.entry(worker.clone()).or_default();
                        (of.threads, of.items) = (threads, of.items + 1);
                        of.rate = of.items as f64 / active.began.elapsed().as_secs_f64().max(0.001);
                        continue;
                    }
                },
            };
            is_sound = false;
            let failures = active.failures.entry(item).or_default();
            *failures += 1;
            lock(&self.key.status).jobs[2] += 1;
            let what = format!("{stage}, item {item} on worker {worker}: {fault}");
            ensure!(*failures < MOST_FAILURES, "{what} (it has failed {failures} times)");
            self.reporter.warning(&format!("{what}; trying again"));
        }
        if let Some(deliveries) = deliveries.filter(|_| is_new) {
            let mut status = lock(&self.key.status);
            status.jobs[0] += 1;
            status.jobs[1] += deliveries.saturating_sub(1);
        }
        Ok(is_sound)
    }

    /// Looks at the queue. Returns false if the missing items must be put on it again: the server has lost its store, or no
    /// worker has them. Fails if one of the jobs is no longer delivered.
    async fn look(&self, active: &mut Active<'_, '_>) -> Result<bool> {
        let js = &self.link.js;
        let queue: Consumer<pull::Config> = match js.get_consumer_from_stream(&self.run, JOBS).await {
            Ok(queue) => queue,
            // The server has lost it, or does not answer.
            Err(error) => return Ok(!matches!(error.kind(), ConsumerErrorKind::JetStream(_))),
        };
        let queue = queue.cached_info();
        let in_work = queue.num_ack_pending;
        active.without = if queue.num_waiting + in_work == 0 { active.without + 1 } else { 0 };
        if queue.num_pending > 0 && active.without == 3 {
            self.reporter.line(&format!("waiting for workers; start one with: turnstone worker {}", self.url));
        }
        let quiet = (2 * LOOK_EVERY).max(self.queue.ack_wait);
        if queue.num_pending + in_work as u64 > 0 || active.news.elapsed() < quiet {
            return Ok(true);
        }
        let stream = js.get_stream_no_info(JOBS).await?;
        let Ok(left) = stream.get_last_raw_message_by_subject(&job_subject(&self.run)).await else { return Ok(false) };
        let job: Job = serde_json::from_slice(&left.payload)?;
        let last = job.first + job.count - 1;
        // A server that was killed may have kept the acknowledgement of a job and lost its results.
        if !active.stuck.contains(&job.first) {
            active.stuck = job.first..last + 1;
            return Ok(false);
        }
        bail!(
            "{}, items {} to {last}: {} workers were killed over this job or fell silent (see what they say, and whether their \
             memory is enough)",
            active.items.stage,
            job.first,
            2 * MOST_DELIVERIES
        );
    }

    /// Removes the last work's results from the server, one by one: servers before 2.10 do not count as free what a purge of a
    /// subject removes.
    async fn remove_results(&self) {
        let results = std::mem::take(&mut *lock(&self.results));
        let Ok(messages) = self.link.js.get_stream_no_info(RESULTS).await else { return };
        // One that stays comes again with the next work.
        let removed = stream::iter(results).map(|sequence| messages.delete_message(sequence));
        removed.buffer_unordered(MOST_REQUESTS).for_each(|_| ready(())).await;
    }

    /// Ends the run for good: removes its data from the server, and its folder.
    pub fn finish(self) {
        self.end();
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
        let [jobs, again, _] = lock(&self.key.status).jobs;
        self.reporter.line(&format!("workers played {jobs} jobs, {again} were delivered again"));
    }

    /// Removes the run from the server, which would forget it after some days anyway.
    fn end(&self) {
        let js = &self.link.js;
        self.keeper.abort();
        self.link.wait(async {
            self.remove_results().await;
            let _ = js.delete_consumer_from_stream(&self.run, JOBS).await;
            for (stream, subject) in [(JOBS, job_subject(&self.run)), (RESULTS, result_subject(&self.run, "*"))] {
                if let Ok(stream) = js.get_stream_no_info(stream).await {
                    let _ = stream.purge().filter(subject).await;
                }
            }
            let _ = remove_work(js, &self.run).await;
        });
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // No leader can continue without a folder.
        if self.folder.is_none() {
            self.end();
        }
        self.keeper.abort();
        self.link.wait(key::release(&self.link.js, &self.key));
    }
}

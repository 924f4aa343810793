//! The threads of a worker. Each takes a job, plays it, stores the results and acknowledges the job. Every job has a lease, which
//! tells the server that it is being played.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use async_nats::jetstream::consumer::{Consumer, Info, pull};
use async_nats::jetstream::message::{AckKind, Acker};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_bytes::ByteBuf;
use tokio::sync::oneshot::{self, error::TryRecvError};
use tokio::time::{sleep, timeout};
use turnstone_agents::Agent;
use turnstone_agents::search::Stop;
use turnstone_arena::Tournament;
use turnstone_arena::grading::answers_to;
use turnstone_base::terminal::Reporter;
use turnstone_selfplay::{Games, SelfPlayCounters, Session, TrainableGame};

use crate::link::{AT_ONCE, BESIDES, Link, get_work, lock, refusal};
use crate::messages::{Item, Job, Played, packed, result_subject};
use crate::work::{Kind, Work};

/// Time for which the server keeps a request for a job.
const ASK_FOR: Duration = Duration::from_secs(1);
/// Pause before something is tried again, and after which a job that has failed is offered again.
const PAUSE: Duration = Duration::from_millis(500);
const FAILED_AGAIN: Duration = Duration::from_secs(1);

/// A work in memory.
pub(super) struct Loaded {
    /// SHA-256 of the work.
    sum: String,
    work: Work,
    /// Sessions of self-play that no thread uses.
    sessions: Mutex<Vec<Box<dyn Session>>>,
    /// Raised when its results are no longer needed.
    is_over: Stop,
}

pub(super) struct Worker<'a> {
    pub(super) name: String,
    pub(super) threads: usize,
    pub(super) program: &'a str,
    pub(super) games: &'a Games,
    pub(super) stop: &'a Stop,
    pub(super) reporter: Arc<Reporter>,
    pub(super) link: Link,
    /// By run.
    pub(super) queues: Mutex<BTreeMap<String, Arc<Queue>>>,
    /// The last fault, which is reported once.
    pub(super) said: Mutex<String>,
}

/// The queue of a run.
pub(super) struct Queue {
    pub(super) consumer: Consumer<pull::Config>,
    /// The game; `None` if this worker cannot play for the run.
    pub(super) game: Option<Arc<dyn TrainableGame>>,
    /// Until when it is asked for jobs.
    pub(super) asked_until: Mutex<Instant>,
    /// The work in memory.
    pub(super) loaded: Mutex<Option<Arc<Loaded>>>,
}

/// A job that this worker has. If it is dropped, another worker gets it.
struct Held {
    job: Job,
    /// How often it was delivered.
    deliveries: u64,
    /// Number and outcome of each item that has been played, or why it cannot be.
    played: Vec<Item>,
    /// Takes what becomes of the job.
    lease: oneshot::Sender<AckKind>,
}

impl Queue {
    /// The server's information on it; its name is the run's.
    pub(super) fn info(&self) -> &Info {
        self.consumer.cached_info()
    }

    /// Ends what is being played for the run.
    pub(super) fn forget(&self) {
        lock(&self.loaded).take().into_iter().for_each(|loaded| loaded.is_over.raise());
    }
}

impl Held {
    /// Numbers of the job's items.
    fn numbers(&self) -> Range<usize> {
        self.job.first..self.job.first.saturating_add(self.job.count)
    }
}

impl Worker<'_> {
    /// Takes jobs and plays them, from all queues in turn.
    pub(super) fn play(&self) {
        while !self.stop.is_raised() {
            let now = Instant::now();
            let is_open = |queue: &Arc<Queue>| queue.game.is_some() && *lock(&queue.asked_until) > now;
            let queues: Vec<_> = lock(&self.queues).values().filter(|queue| is_open(queue)).cloned().collect();
            if queues.is_empty() {
                thread::sleep(Duration::from_millis(100));
            }
            for queue in &queues {
                let mut held = ask(queue, &self.link, ASK_FOR / queues.len() as u32).blocking_recv().ok();
                while let Some(job) = held.filter(|_| !self.stop.is_raised()) {
                    held = self.play_from(queue, job);
                }
            }
        }
    }

    /// Plays a job, and further jobs of the same work while they fill a thread. Returns a job of another work that is next.
    fn play_from(&self, queue: &Queue, held: Held) -> Option<Held> {
        let mut all = vec![held];
        // The state that a panic leaves is dropped.
        let why = match catch_unwind(AssertUnwindSafe(|| self.play_jobs(queue, &mut all))) {
            Ok(Ok(next)) => return next,
            Ok(Err(error)) => format!("{error:#}"),
            Err(_) => "playing it panics (see what the worker says)".to_owned(),
        };
        *lock(&queue.loaded) = None;
        for mut held in all {
            held.played = vec![(held.job.first, Err(why.clone()))];
            self.send(queue, held);
        }
        None
    }

    /// Plays jobs, beginning with the one in `all`. Those that are left there are returned to the queue.
    fn play_jobs(&self, queue: &Queue, all: &mut Vec<Held>) -> Result<Option<Held>> {
        let numbers = all[0].numbers();
        let game = &**queue.game.as_ref().context("a queue that is played has a game")?;
        let Some(loaded) = self.load(queue, game, &all[0].job)? else { return Ok(None) };
        let (work, is_over) = (&loaded.work, &loaded.is_over);
        match &work.kind {
            Kind::SelfPlay(_) => {
                let mut session = lock(&loaded.sessions).pop().context("each thread has a session")?;
                let next = self.play_on(queue, &loaded, &mut *session, all)?;
                lock(&loaded.sessions).push(session);
                return Ok(next);
            }
            Kind::Games { tournament, plans } => {
                let agents: Vec<&Agent> = work.agents.iter().collect();
                let tournament = Tournament::of_header(game, agents, (**tournament).clone())?;
                let records = tournament.play_plans(&plans[numbers.clone()], is_over)?;
                for (number, record) in numbers.zip(records.into_iter().flatten()) {
                    self.put(queue, all, number, serde_json::to_vec(&record)?);
                }
            }
            Kind::Positions { texts, seed } => {
                let asked: Vec<(usize, &str)> = numbers.map(|number| (number, &*texts[number])).collect();
                let answers = answers_to(game, &work.agents[0], &asked, *seed, is_over)?;
                for (number, answer) in answers.into_iter().flatten() {
                    self.put(queue, all, number, serde_json::to_vec(&answer)?);
                }
            }
        }
        Ok(None)
    }

    /// The work of a job, which takes the place of the run's last one. `None` if the worker is stopped.
    fn load(&self, queue: &Queue, game: &dyn TrainableGame, job: &Job) -> Result<Option<Arc<Loaded>>> {
        let mut loaded = lock(&queue.loaded);
        if let Some(loaded) = loaded.as_ref().filter(|loaded| loaded.sum == job.work) {
            return Ok(Some(Arc::clone(loaded)));
        }
        loaded.take().into_iter().for_each(|last| last.is_over.raise());
        let fetch = async || get_work(&self.link.js, &queue.info().name, job.pieces, &job.work).await;
        let Some(bytes) = self.insist("the server gives no work", fetch) else { return Ok(None) };
        let work = Work::decode(&bytes.context("the server does not have its network and settings")?, game)?;
        let sessions = work.task.as_ref().map(|task| game.task_sessions(task, self.threads)).transpose()?;
        let sessions = Mutex::new(sessions.unwrap_or_default());
        let new = Arc::new(Loaded { sum: job.work.clone(), work, sessions, is_over: Stop::default() });
        Ok(Some(loaded.insert(new).clone()))
    }

    /// Plays games of self-play until none is in progress and no job is left, or they are no longer needed.
    fn play_on(
        &self,
        queue: &Queue,
        loaded: &Loaded,
        session: &mut dyn Session,
        all: &mut Vec<Held>,
    ) -> Result<Option<Held>> {
        let (mut numbers, mut asked) = (all[0].numbers(), None::<oneshot::Receiver<Held>>);
        loop {
            let mut has_room = false;
            let mut next = || {
                has_room |= numbers.is_empty();
                numbers.next()
            };
            let is_on = session.step(usize::MAX, &mut next, &SelfPlayCounters::default())?;
            for game in session.take_finished() {
                self.put(queue, all, game.number, game.transcript());
            }
            let is_over = self.stop.is_raised() || loaded.is_over.is_raised();
            let held = match asked.take() {
                // Games in progress do not wait for a job.
                Some(mut asking) if is_on && !is_over => match asking.try_recv() {
                    Err(TryRecvError::Empty) => {
                        asked = Some(asking);
                        continue;
                    }
                    answer => answer.ok(),
                },
                asking => asking.and_then(|asking| asking.blocking_recv().ok()),
            };
            match held {
                Some(held) if held.job.work == loaded.sum => {
                    numbers = held.numbers();
                    all.push(held);
                }
                // A job of another work follows when the leader no longer needs this one.
                Some(other) => return Ok(Some(other)),
                None if is_on && !is_over => asked = has_room.then(|| ask(queue, &self.link, ASK_FOR)),
                None => {}
            }
            if is_over || !is_on && numbers.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Takes an outcome, and sends those of the job that it completes.
    fn put(&self, queue: &Queue, all: &mut Vec<Held>, number: usize, outcome: Vec<u8>) {
        let Some(at) = all.iter().position(|held| held.numbers().contains(&number)) else { return };
        let (length, most) = (outcome.len(), self.most_bytes());
        let fault = || format!("its result has {length} bytes, and the server takes {most}: raise its max_payload");
        all[at].played.push((number, if length <= most { Ok(ByteBuf::from(outcome)) } else { Err(fault()) }));
        if all[at].played.len() == all[at].job.count {
            self.send(queue, all.swap_remove(at));
        }
    }

    /// Maximum number of bytes of the outcomes in a message.
    fn most_bytes(&self) -> usize {
        self.link.js.client().max_payload().saturating_sub(BESIDES)
    }

    /// Stores what has been played of a job, in as few messages as hold it, and settles the job.
    fn send(&self, queue: &Queue, held: Held) {
        let (js, run, most) = (&self.link.js, &queue.info().name, self.most_bytes());
        let is_played = held.played.iter().all(|(_, outcome)| outcome.is_ok());
        let sent = Played { work: held.job.work, worker: (self.name.clone(), self.threads), ..Played::default() };
        let message = |items| Played { items, ..sent.clone() };
        let mut messages: Vec<Played> = packed(held.played, most).into_iter().map(message).collect();
        messages.last_mut().into_iter().for_each(|last| last.deliveries = Some(held.deliveries));
        let publish = async |played: &Played| {
            js.publish(result_subject(run, &self.name), played.encode().into()).await?.await?;
            Ok(())
        };
        let store = async || stream::iter(&messages).map(&publish).buffered(AT_ONCE).try_collect::<()>().await;
        if self.insist("the server takes no results", store).is_some() {
            let verdict = if is_played { AckKind::Ack } else { AckKind::Nak(Some(FAILED_AGAIN)) };
            let _ = held.lease.send(verdict);
        }
    }

    /// Tries something until the server does it. `None` if the worker is stopped before.
    fn insist<T>(&self, what: &'static str, attempt: impl AsyncFn() -> Result<T>) -> Option<T> {
        loop {
            match self.link.wait(attempt()) {
                Ok(done) => return Some(done),
                Err(_) if self.stop.is_raised() => return None,
                Err(error) => {
                    let (fault, mut said) = (refusal(&error.context(what)), lock(&self.said));
                    if *said != fault {
                        self.reporter.warning(&fault);
                        *said = fault;
                    }
                }
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Asks a queue for a job, which comes within `patience` or not at all.
fn ask(queue: &Queue, link: &Link, patience: Duration) -> oneshot::Receiver<Held> {
    let (consumer, ack_wait) = (queue.consumer.clone(), queue.info().config.ack_wait);
    let (found, asked) = oneshot::channel();
    link.spawn(async move {
        let message = async {
            let mut messages = consumer.batch().max_messages(1).expires(patience).messages().await?;
            let message = timeout(2 * ASK_FOR, messages.next()).await?;
            message.transpose().map_err(anyhow::Error::from_boxed)
        };
        match message.await {
            Ok(message) => {
                let Some(message) = message else { return };
                let Ok(job) = serde_json::from_slice(&message.payload) else { return }; // of another version
                let deliveries = message.info().map_or(1, |info| info.delivered.unsigned_abs());
                let (lease, verdict) = oneshot::channel();
                tokio::spawn(keep(message.split().1, ack_wait, verdict));
                let _ = found.send(Held { job, deliveries, played: Vec::new(), lease });
            }
            Err(_) => sleep(PAUSE).await, // the server is away, or the run is over
        }
    });
    asked
}

/// Tells the server that a job is being played until it hears what becomes of the job. If it hears nothing, another worker gets
/// the job.
async fn keep(acker: Acker, ack_wait: Duration, mut verdict: oneshot::Receiver<AckKind>) {
    loop {
        let (kind, is_over) = match timeout(ack_wait / 3, &mut verdict).await {
            Err(_) => (AckKind::Progress, false),
            Ok(verdict) => (verdict.unwrap_or(AckKind::Nak(None)), true),
        };
        let _ = acker.ack_with(kind).await; // if it is lost, the job is played again
        if is_over {
            return;
        }
    }
}

//! Finds the queues of runs, and takes jobs from them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{Consumer, Info, pull};
use async_nats::jetstream::message::{AckKind, Message};
use futures_util::{StreamExt, TryStreamExt};

use super::job::{Held, Loaded, Shared};
use crate::link::{Note, get_work};
use crate::messages::{JOBS, Job, Run};
use crate::work::Work;

/// Time between two looks for queues.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time after which a queue without jobs is no longer asked, so that the server forgets it in time.
const ASKED_FOR: Duration = Duration::from_mins(1);

/// The queue of a run.
struct Queue {
    /// Its description, by which it is known again.
    description: String,
    consumer: Consumer<pull::Config>,
    ack_wait: Duration,
    /// Until when it is asked for jobs; `None` if this worker cannot play for the run.
    asked_until: Option<Instant>,
}

/// Takes jobs while there is room for them.
pub(super) async fn fetch(js: Context, shared: Arc<Shared>) {
    let (mut queues, mut looked) = (HashMap::new(), None::<Instant>);
    let (mut loaded, mut said) = (None::<Arc<Loaded>>, String::new());
    while !shared.stop.is_raised() {
        let seats = loaded.as_ref().map_or(1, |work| work.seats());
        if shared.open.load(Ordering::Relaxed) >= shared.threads * seats {
            let _ = tokio::time::timeout(Duration::from_millis(200), shared.room.notified()).await;
            continue;
        }
        if looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY) {
            looked = Some(Instant::now());
            let found = look(&js, &shared, &mut queues).await;
            tell_once(&shared, &mut said, found);
            if let Some(work) = loaded.take_if(|work| !queues.contains_key(&work.run)) {
                work.is_over.store(true, Ordering::Relaxed);
            }
        }
        let now = Instant::now();
        let is_open = |queue: &Queue| queue.asked_until.is_some_and(|until| until > now);
        let waits = queues.values().filter(|queue| is_open(queue)).count() == 1;
        let mut pauses = !waits;
        for (run, queue) in queues.iter_mut().filter(|(_, queue)| is_open(queue)) {
            match next(&queue.consumer, waits).await {
                Ok(None) => {}
                Ok(Some(message)) => {
                    pauses = false;
                    let took = take(&js, &shared, &mut loaded, run, queue, message).await;
                    tell_once(&shared, &mut said, took.with_context(|| format!("run {run}")));
                }
                Err(_) => (looked, pauses) = (None, true), // the run is over, or the server is away
            }
        }
        if pauses {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn tell_once(shared: &Shared, said: &mut String, result: Result<()>) {
    if let Err(error) = result {
        let fault = format!("{error:#}");
        if *said != fault {
            (shared.note)(Note::Warning(fault.clone()));
            *said = fault;
        }
    }
}

/// Looks at which runs have queues. A new one begins with the self-test.
async fn look(js: &Context, shared: &Arc<Shared>, queues: &mut HashMap<String, Queue>) -> Result<()> {
    let found = js.get_stream_no_info(JOBS).await?.consumers().try_collect::<Vec<Info>>().await;
    let Ok(infos) = found else { return Ok(()) }; // no leader has made the stream, or the server is away
    for (run, _) in queues.extract_if(|run, _| !infos.iter().any(|info| info.name == *run)) {
        (shared.note)(Note::Line(format!("run {run} is over")));
    }
    for info in infos {
        let (run, description) = (info.name.clone(), info.config.description.clone().unwrap_or_default());
        if queues.get(&run).is_none_or(|queue| queue.description != description) {
            let Ok(consumer) = js.get_consumer_from_stream(&run, JOBS).await else { continue }; // it is over already
            let (of_test, about) = (Arc::clone(shared), description.clone());
            let confirmed = tokio::task::spawn_blocking(move || confirm(&of_test, &about)).await?;
            let asked_until = confirmed.is_ok().then(Instant::now);
            (shared.note)(match confirmed {
                Ok(game) => Note::Line(format!("playing for run {run} of {game}")),
                Err(why) => Note::Warning(format!("not playing for run {run}: {why:#}")),
            });
            let ack_wait = info.config.ack_wait;
            queues.insert(run.clone(), Queue { description, consumer, ack_wait, asked_until });
        }
        let queue = queues.get_mut(&run).context("it was found")?;
        if info.num_pending > 0 || info.num_ack_pending > 0 {
            queue.asked_until = queue.asked_until.map(|_| Instant::now() + ASKED_FOR);
        }
    }
    Ok(())
}

/// Checks that this worker can play for a run. Returns the game's name.
fn confirm(shared: &Shared, description: &str) -> Result<String> {
    let run: Run = serde_json::from_str(description).context("its description is not one of this version")?;
    let (program, game) = (&run.program, shared.games.make(&run.game, &run.params)?);
    ensure!(*program == shared.program, "its leader is {program}, this worker {}: use the same", shared.program);
    let version = game.version();
    ensure!(version == run.version, "its game is {} version {}, here it is version {version}", run.game, run.version);
    run.probe.confirm(&*game)?;
    Ok(run.game)
}

/// Takes the next job from a queue; if `waits`, waits a second for one.
async fn next(queue: &Consumer<pull::Config>, waits: bool) -> Result<Option<Message>> {
    let mut messages = if waits {
        queue.batch().max_messages(1).expires(Duration::from_secs(1)).messages().await?
    } else {
        queue.fetch().max_messages(1).messages().await?
    };
    let message = tokio::time::timeout(Duration::from_secs(3), messages.next()).await?;
    message.transpose().map_err(anyhow::Error::from_boxed)
}

/// Hands a job to the threads. Fetches its work first if that is another one.
async fn take(
    js: &Context,
    shared: &Arc<Shared>,
    loaded: &mut Option<Arc<Loaded>>,
    run: &str,
    queue: &Queue,
    message: Message,
) -> Result<()> {
    let job: Job = serde_json::from_slice(&message.payload).context("a job of another version")?;
    let delivered = message.info().map_or(1, |info| info.delivered);
    if let Some(work) = loaded.take_if(|work| (&*work.run, &work.sum) != (run, &job.work)) {
        // A run has one work at a time. That of another run is played to its end.
        if work.run == run {
            work.is_over.store(true, Ordering::Relaxed);
        }
        drop(work);
        while shared.open.load(Ordering::Relaxed) > 0 && !shared.stop.is_raised() {
            let _ = message.ack_with(AckKind::Progress).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let work = match loaded {
        Some(work) => Arc::clone(work),
        None => {
            let Some(bytes) = get_work(js, run, job.pieces, &job.work).await? else {
                // The leader has replaced the work.
                return message.ack_with(AckKind::Term).await.map_err(anyhow::Error::from_boxed);
            };
            let games = shared.games.clone();
            let work = tokio::task::spawn_blocking(move || Work::decode(&bytes, &games)).await?;
            loaded.insert(Arc::new(Loaded::new(run, &job.work, work, queue.ack_wait))).clone()
        }
    };
    let held = Held::new(shared, &work, &job, delivered, message.split().1);
    shared.jobs.0.send(held).context("the worker has ended")
}

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

use super::Shared;
use super::play::Loaded;
use super::send::Report;
use super::table::Held;
use crate::link::{Note, get_work};
use crate::messages::{JOBS, Job, Results, Run};
use crate::work::Work;

/// Time between two looks for queues.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time after which a queue without jobs is no longer asked, so that the server forgets it in time.
const ASKED_FOR: Duration = Duration::from_mins(1);
/// Number of finished jobs that the server has not taken, at which no more are fetched.
const MOST_UNSENT: usize = 16;

/// A run that has a queue.
struct Queue {
    /// The description of the queue, by which it is known again.
    description: String,
    consumer: Consumer<pull::Config>,
    ack_wait: Duration,
    /// Whether this worker can play for the run.
    is_playable: bool,
    /// Whether there were jobs when it was last looked at, and when there last were.
    has_jobs: bool,
    asked_until: Instant,
}

/// Takes jobs while there is room for them.
pub(super) async fn fetch(js: Context, shared: Arc<Shared>) {
    let (mut queues, mut looked) = (HashMap::new(), None::<Instant>);
    let mut said = String::new();
    while !shared.stop.load(Ordering::Relaxed) {
        if !shared.table.has_room(shared.threads) || shared.table.unsent() >= MOST_UNSENT {
            let _ = tokio::time::timeout(Duration::from_millis(200), shared.room.notified()).await;
            continue;
        }
        if looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY) {
            looked = Some(Instant::now());
            let found = look(&js, &shared, &mut queues).await;
            if let Err(error) = &found {
                tell_once(&shared, &mut said, format!("{error:#}"));
            }
        }
        let now = Instant::now();
        let open: Vec<String> = queues
            .iter()
            .filter(|(_, queue)| queue.is_playable && (queue.has_jobs || queue.asked_until > now))
            .map(|(run, _)| run.clone())
            .collect();
        let mut took = false;
        for run in &open {
            let queue = queues.get_mut(run).expect("it was found");
            match next(&queue.consumer, open.len() == 1).await {
                Ok(None) => queue.has_jobs = false,
                Ok(Some(message)) => {
                    took = true;
                    queue.asked_until = Instant::now() + ASKED_FOR;
                    if let Err(error) = take(&js, &shared, run, queue.ack_wait, message).await {
                        tell_once(&shared, &mut said, format!("run {run}: {error:#}"));
                        tokio::time::sleep(LOOK_EVERY).await;
                    }
                }
                Err(_) => looked = None, // the run is over, or the server is away
            }
        }
        if !took && open.len() != 1 || looked.is_none() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn tell_once(shared: &Shared, said: &mut String, fault: String) {
    if *said != fault {
        (shared.note)(Note::Warning(fault.clone()));
        *said = fault;
    }
}

/// Looks at which runs have queues. A new one begins with the self-test.
async fn look(js: &Context, shared: &Arc<Shared>, queues: &mut HashMap<String, Queue>) -> Result<()> {
    let found = js.get_stream_no_info(JOBS).await?.consumers().try_collect::<Vec<Info>>().await;
    let Ok(infos) = found else { return Ok(()) }; // no leader has made the stream, or the server is away
    for (run, queue) in queues.extract_if(|run, _| !infos.iter().any(|info| info.name == *run)) {
        shared.table.drop_run(&run);
        if queue.is_playable {
            (shared.note)(Note::Line(format!("run {run} is over")));
        }
    }
    for info in infos {
        let description = info.config.description.clone().unwrap_or_default();
        let (run, has_jobs) = (info.name.clone(), info.num_pending > 0 || info.num_ack_pending > 0);
        if let Some(queue) = queues.get_mut(&run).filter(|queue| queue.description == description) {
            (queue.has_jobs, queue.ack_wait) = (has_jobs, info.config.ack_wait);
            continue;
        }
        let consumer: Consumer<pull::Config> = js.get_consumer_from_stream(&run, JOBS).await?;
        let (of_test, about) = (Arc::clone(shared), description.clone());
        let confirmed = tokio::task::spawn_blocking(move || confirm(&of_test, &about)).await?;
        (shared.note)(match &confirmed {
            Ok(game) => Note::Line(format!("playing for run {run} of {game}")),
            Err(why) => Note::Warning(format!("not playing for run {run}: {why:#}")),
        });
        let (ack_wait, is_playable) = (info.config.ack_wait, confirmed.is_ok());
        let asked_until = Instant::now();
        queues.insert(run, Queue { description, consumer, ack_wait, is_playable, has_jobs, asked_until });
    }
    Ok(())
}

/// Checks that this worker can play for a run. Returns the game's name.
fn confirm(shared: &Shared, description: &str) -> Result<String> {
    let run: Run = serde_json::from_str(description).context("its description is not one of this version")?;
    ensure!(
        run.program == shared.program,
        "its leader is {}, this worker {}: use the same",
        run.program,
        shared.program
    );
    let game = shared.games.make(&run.game, &run.params)?;
    let version = game.version();
    ensure!(version == run.version, "its game is {} version {}, here it is version {version}", run.game, run.version);
    run.probe.confirm(&*game).map_err(anyhow::Error::msg)?;
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

/// Puts a job on the table, and its work first if that is another one.
async fn take(js: &Context, shared: &Arc<Shared>, run: &str, ack_wait: Duration, message: Message) -> Result<()> {
    let Ok(job) = serde_json::from_slice::<Job>(&message.payload) else {
        let _ = message.ack_with(AckKind::Term).await;
        return Ok(()); // of another version
    };
    let delivered = message.info().map_or(1, |info| info.delivered);
    let Some(acker) = shared.table.take_again(&job, message.split().1) else { return Ok(()) };
    let held = Held::new(acker, run, &job, delivered, ack_wait);
    let mut loaded = shared.table.work().0.filter(|work| work.sum == job.work);
    if loaded.is_none() {
        let loading = load(js, shared, run, &job);
        tokio::pin!(loading);
        let read = loop {
            match tokio::time::timeout(ack_wait / 3, &mut loading).await {
                Ok(read) => break read?,
                Err(_) => drop(held.acker.ack_with(AckKind::Progress).await),
            }
        };
        match read {
            // The job is of a work that the leader has replaced.
            None => return Ok(held.acker.ack_with(AckKind::Term).await.map_err(anyhow::Error::from_boxed)?),
            Some(Ok(work)) => {
                let work = Arc::new(Loaded::new(run, job.work.clone(), work));
                for before in shared.table.replace(&work) {
                    let _ = before.acker.ack_with(AckKind::Term).await;
                }
                loaded = Some(work);
            }
            Some(Err(fault)) => {
                report_failure(shared, run, &job, &held, format!("{fault:#}"));
                return Ok(());
            }
        }
    }
    let items = loaded.map_or(0, |work| work.work.items());
    if job.count == 0 || job.first.checked_add(job.count).is_none_or(|end| end > items) {
        report_failure(shared, run, &job, &held, "it goes beyond its work".to_owned());
    } else {
        shared.table.add(held);
    }
    Ok(())
}

fn report_failure(shared: &Shared, run: &str, job: &Job, held: &Held, fault: String) {
    let results = Results { failed: Some(fault), ..held.results(&job.work) };
    let _ = shared.reports.send(Report::Failed { run: run.to_owned(), acker: Arc::clone(&held.acker), results });
}

/// Fetches and reads the work of a job, when no job of another run is left. `None` if the server has it no more; the inner
/// result is an error if it cannot be played.
async fn load(js: &Context, shared: &Shared, run: &str, job: &Job) -> Result<Option<Result<Work>>> {
    while matches!(shared.table.work(), (Some(work), true) if work.run != run) && !shared.stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let Some(bytes) = get_work(js, run, job.pieces, &job.work).await? else { return Ok(None) };
    let games = shared.games.clone();
    Ok(Some(tokio::task::spawn_blocking(move || Work::decode(&bytes, &games)).await?))
}

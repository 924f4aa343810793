//! Listens for announcements of runs, and fetches ranges from their queues.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::message::{AckKind, Acker};
use async_nats::jetstream::{Context, Message};
use futures_util::StreamExt;

use super::jobs::{Jobs, drop_job};
use super::loaded::Loaded;
use super::runs::{Eligibility, Run, Verdict, demands_same};
use super::shared::{HeldRange, Shared};
use crate::job::{Job, LONGEST_JOB};
use crate::messages::{ALL_RUNS, Announcement, Range, WORK, decode};
use crate::notes::{Note, lock};
use crate::stored::get_job;
use crate::wire::Malformed;

/// Time without an announcement after which a run is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(10);
/// Number of finished ranges that the server has not taken, at which no more ranges are fetched.
const MOST_UNSENT: u64 = 16;
/// Pause after a job could not be fetched.
const FETCHED_AGAIN: Duration = Duration::from_secs(1);

/// Delay before the server offers a range of an unannounced job again, and how often it does: the announcement may be on its
/// way.
const NOT_ANNOUNCED: (Duration, i64) = (Duration::from_millis(150), 10);

/// Listens for announcements of runs.
pub(super) async fn listen(client: async_nats::Client, shared: Arc<Shared>) {
    loop {
        if let Ok(mut announcements) = client.subscribe(ALL_RUNS).await {
            while let Some(message) = announcements.next().await {
                match decode::<Announcement>(&message.payload) {
                    Ok(announcement) => consider(&shared, announcement),
                    Err(fault) => refuse_unread(&shared, message.subject.rsplit('.').next().unwrap_or(""), &fault.0),
                }
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Reports once that an announcement cannot be read, as happens between versions.
fn refuse_unread(shared: &Shared, name: &str, fault: &str) {
    let mut runs = lock(&shared.runs);
    if !runs.0.contains_key(name) {
        runs.0.insert(name.to_owned(), Run::new(None, Eligibility::Unknown));
        runs.refuse(name, &format!("its announcement: {fault}"), &shared.note);
    }
}

/// Takes an announcement. Another thread tests whether this worker can play for the run.
fn consider(shared: &Arc<Shared>, announcement: Announcement) {
    let mut runs = lock(&shared.runs);
    let name = announcement.run.clone();
    runs.0.retain(|_, run| run.seen.elapsed() < FORGOTTEN_AFTER);
    if announcement.over {
        if runs.0.remove(&name).is_some_and(|run| run.eligibility == Eligibility::Serving) {
            (shared.note)(Note::Line(format!("run {name} is over")));
        }
        return;
    }
    if runs.0.get_mut(&name).is_some_and(|run| run.update(&announcement)) {
        return;
    }
    runs.0.insert(name, Run::new(Some(announcement.clone()), Eligibility::Unknown));
    let shared = Arc::clone(shared);
    tokio::task::spawn_blocking(move || test(&shared, &announcement));
}

/// Tests whether this worker can play for a run, unless meanwhile the run ends or its requirements change.
fn test(shared: &Shared, announcement: &Announcement) {
    let name = &announcement.run;
    let confirmed = confirm(shared, announcement);
    let mut runs = lock(&shared.runs);
    let is_same = |run: &&mut Run| run.announcement.as_ref().is_some_and(|now| demands_same(now, announcement));
    match (confirmed, runs.0.get_mut(name).filter(is_same)) {
        (_, None) => {}
        (Ok(()), Some(run)) => {
            run.eligibility = Eligibility::Serving;
            (shared.note)(Note::Line(format!("playing for run {name} of {}", announcement.game)));
        }
        (Err(why), Some(_)) => runs.refuse(name, &why, &shared.note),
    }
}

/// Checks that this worker can play for a run.
fn confirm(shared: &Shared, announcement: &Announcement) -> Result<(), String> {
    let Announcement { program, game: name, version, params, probe, .. } = announcement;
    let game = shared.games.make(name, params).map_err(|error| error.to_string())?;
    if game.version() != *version || game.params() != *params {
        return Err(format!("its game is {name} version {version}, here it is version {}", game.version()));
    }
    if *program != shared.program {
        return Err(format!("its leader is {program}, this worker {}", shared.program));
    }
    probe.confirm(&*game)
}

type Queue = Consumer<pull::Config>;

/// Fetches ranges while there is room for them.
pub(super) async fn fetch(js: Context, shared: Arc<Shared>) {
    let mut queues: HashMap<String, Queue> = HashMap::new();
    let (mut jobs, mut said) = (Jobs::default(), String::new());
    while !shared.stop.load(Ordering::Relaxed) {
        let (runs, _) = lock(&shared.runs).eligibility();
        queues.retain(|name, _| runs.contains(name));
        jobs.keep(&shared, &runs);
        if !shared.queue.has_room(shared.threads) || shared.unsent.load(Ordering::Relaxed) >= MOST_UNSENT {
            // The limit covers items that are retired or returned without a notification.
            let _ = tokio::time::timeout(Duration::from_millis(200), shared.room.notified()).await;
            continue;
        }
        let mut found = false;
        for name in &runs {
            match fetch_one(&js, &mut queues, name, runs.len() == 1).await {
                Ok(Some(message)) => {
                    found = true;
                    if let Err(error) = take(&js, &shared, &mut jobs, name, message).await {
                        let fault = format!("run {name}: {error:#}");
                        if said != fault {
                            (shared.note)(Note::Warning(fault.clone()));
                            said = fault;
                        }
                        tokio::time::sleep(FETCHED_AGAIN).await;
                    }
                }
                Ok(None) => found |= runs.len() == 1,
                Err(_) => {
                    // The leader has not begun, or the server is away.
                    queues.remove(name);
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
        if !found {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Fetches one range of a run; if `waits`, waits a second for one.
async fn fetch_one(
    js: &Context,
    queues: &mut HashMap<String, Queue>,
    name: &str,
    waits: bool,
) -> Result<Option<Message>> {
    if !queues.contains_key(name) {
        let queue: Queue = js.get_consumer_from_stream(name, WORK).await?;
        queues.insert(name.to_owned(), queue);
    }
    let queue = &queues[name];
    let mut messages = if waits {
        queue.batch().max_messages(1).expires(Duration::from_secs(1)).messages().await?
    } else {
        queue.fetch().max_messages(1).messages().await?
    };
    match tokio::time::timeout(Duration::from_secs(3), messages.next()).await {
        Ok(Some(Ok(message))) => Ok(Some(message)),
        Ok(Some(Err(error))) => Err(anyhow::anyhow!(error)),
        Ok(None) => Ok(None),
        Err(_) => bail!("the server does not answer"),
    }
}

/// Takes a range of a run, whose job is fetched first if it is not in memory.
async fn take(js: &Context, shared: &Arc<Shared>, jobs: &mut Jobs, run: &str, message: Message) -> Result<()> {
    let range = match Range::decode(&message.payload) {
        Ok(range) => range,
        Err(fault) => {
            let _ = message.ack_with(AckKind::Term).await; // no worker can play it
            bail!("a range: {fault}");
        }
    };
    let verdict = lock(&shared.runs).verdict(run, &range.job);
    match verdict {
        Verdict::Play => {}
        Verdict::Unplayable => {
            drop_job(shared, &range.job);
            let _ = message.ack_with(AckKind::Nak(Some(Duration::from_secs(1)))).await; // others may play it
            tokio::time::sleep(Duration::from_millis(200)).await;
            return Ok(());
        }
        Verdict::NotAnnounced => {
            let delivered = message.info().map_or(0, |info| info.delivered);
            let is_last = delivered >= NOT_ANNOUNCED.1;
            let kind = if is_last { AckKind::Term } else { AckKind::Nak(Some(NOT_ANNOUNCED.0)) };
            let _ = message.ack_with(kind).await;
            return Ok(());
        }
    }
    let job = match jobs.find(run, &range.job) {
        Some(job) => job,
        None => {
            let loaded = load(js, shared, run, &range, &message).await;
            if !matches!(loaded, Ok(Ok(_))) {
                let _ = message.ack_with(AckKind::Nak(Some(FETCHED_AGAIN))).await; // others may play it
            }
            match loaded? {
                Ok(job) => Arc::new(Loaded::new(range.job, job)),
                Err(fault) => {
                    lock(&shared.runs).give_up(run, range.job, &fault.0, &shared.note);
                    return Ok(());
                }
            }
        }
    };
    jobs.set_current(shared, run, &job);
    if range.numbers().end > job.job.items() {
        let _ = message.ack_with(AckKind::Term).await;
        bail!("a range goes beyond its job");
    }
    place(shared, run, &range, &message, &job);
    Ok(())
}

/// Fetches and reads the job of a range, and reports meanwhile that the range is being played.
async fn load(
    js: &Context,
    shared: &Shared,
    run: &str,
    range: &Range,
    message: &Message,
) -> Result<Result<Job, Malformed>> {
    let games = shared.games.clone();
    let loading = async {
        let bytes = get_job(js, &range.job, LONGEST_JOB).await?;
        Ok(tokio::task::spawn_blocking(move || Job::decode(&bytes, &games)).await?)
    };
    tokio::pin!(loading);
    let speak_after = lock(&shared.runs).ack_wait(run) / 3;
    loop {
        match tokio::time::timeout(speak_after, &mut loading).await {
            Ok(loaded) => return loaded,
            Err(_) => drop(message.ack_with(AckKind::Progress).await),
        }
    }
}

/// Puts the items of a range on the queue.
fn place(shared: &Shared, run: &str, range: &Range, message: &Message, job: &Arc<Loaded>) {
    let acker = Arc::new(Acker::new(message.context.clone(), message.reply.clone()));
    let ack_wait = lock(&shared.runs).ack_wait(run);
    let numbers = {
        let mut held = lock(&shared.held);
        // An item that is already being played for another range counts for this one too.
        let playing = |number: &usize| held.values().any(|held| held.job == range.job && held.left.contains(number));
        let numbers: Vec<usize> = range.numbers().filter(|number| !playing(number)).collect();
        let new = HeldRange {
            run: run.to_owned(),
            job: range.job,
            left: range.numbers().collect(),
            items: Vec::new(),
            acker,
            ack_wait,
            spoken: Instant::now(),
        };
        held.insert(shared.next_range.fetch_add(1, Ordering::Relaxed), new);
        numbers
    };
    shared.queue.push(job, numbers.into_iter(), usize::from(range.seats));
}

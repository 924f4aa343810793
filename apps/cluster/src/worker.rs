//! A worker: plays items of every run on the server, on all cores, until it is stopped.
//!
//! Its threads only play. A few asynchronous tasks listen for runs, fetch ranges, report that ranges are still being played,
//! and send finished ones until the server has acknowledged them.

mod loaded;
mod queue;
mod runs;
mod shared;
mod jobs;
mod sending;
mod fetching;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use async_nats::jetstream::message::{AckKind, Acker};
use tokio::sync::{Notify, mpsc};
use turnstone_selfplay::{Games, SelfPlayStats};

use self::fetching::{fetch, listen};
use self::loaded::Counter as ThreadCounter;
use self::queue::WorkQueue;
use self::sending::send;
use self::shared::{Finished, HeldRange, Shared};
use crate::counters::{Counter, Counters};
use crate::link::Link;
use crate::messages::{Beat, PROTOCOL, is_name, worker_subject};
use crate::notes::{Note, TakeNote, lock, panic_text};
use crate::server::{ServerOptions, shown};
use crate::wire::hex;

/// Maximum number of threads of a worker.
const MOST_THREADS: usize = 1024;

/// Settings of a worker.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// Name and version of the program. It plays for leaders of the same.
    pub program: String,
    /// The server.
    pub server: ServerOptions,
    /// Its name, which is a part of its subjects; `None` for the name of the machine with random digits.
    pub name: Option<String>,
    /// Number of threads.
    pub threads: usize,
}

/// Plays for the runs of a server until `stop` is set.
///
/// # Errors
/// The server cannot be reached at first, or a thread failed.
pub fn work(settings: &WorkerSettings, games: &Games, note: &TakeNote, stop: &AtomicBool) -> Result<()> {
    ensure!(settings.name.iter().all(|name| is_name(name)), "a worker's name consists of a-z 0-9 - and _");
    let name = settings.name.clone().unwrap_or_else(automatic_name);
    let of_link = Arc::clone(note);
    let link = Link::connect(&settings.server, &name, Duration::MAX, stop, move |text| of_link(Note::Line(text)))?;
    let (finished, finished_receiver) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        program: settings.program.clone(),
        name,
        games: games.clone(),
        threads: settings.threads,
        queue: WorkQueue::default(),
        runs: Mutex::default(),
        held: Mutex::default(),
        next_range: AtomicU64::new(0),
        counters: Counters::default(),
        unsent: AtomicU64::new(0),
        effort: Mutex::default(),
        note: Arc::clone(note),
        finished,
        room: Notify::new(),
        stop: AtomicBool::new(false),
    });
    let url = shown(&settings.server.url);
    note(Note::Line(format!("worker {} with {} threads on {url}", shared.name, shared.threads)));
    link.spawn(listen(link.js.client(), Arc::clone(&shared)));
    link.spawn(fetch(link.js.clone(), Arc::clone(&shared)));
    link.spawn(speak(Arc::clone(&shared)));
    link.spawn(beat(link.js.client(), Arc::clone(&shared)));
    link.spawn(send(link.js.clone(), Arc::clone(&shared), finished_receiver));
    let threads: Vec<_> = (0..shared.threads)
        .map(|thread| {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name(format!("play {thread}")).spawn(move || play(&shared, thread))
        })
        .collect::<Result<_, _>>()?;
    while !stop.load(Ordering::Relaxed) && !link.is_denied() && !threads.iter().any(thread::JoinHandle::is_finished) {
        thread::sleep(Duration::from_millis(50));
    }
    shared.stop.store(true, Ordering::Relaxed);
    shared.queue.close();
    let failed = threads.into_iter().map(thread::JoinHandle::join).filter(Result::is_err).count();
    leave(&link, &shared);
    ensure!(failed == 0, "{failed} threads have failed");
    ensure!(
        !link.is_denied(),
        "the server denies its user the subjects of worker {}: give the --name that the user's permissions are for, or \
         extend them (docs/cluster.md)",
        shared.name
    );
    Ok(())
}

/// Returns unfinished ranges to the server, and waits a while until finished ones are sent.
fn leave(link: &Link, shared: &Shared) {
    let held: Vec<HeldRange> = lock(&shared.held).drain().map(|(_, held)| held).collect();
    let given_back = held.len();
    link.wait(async {
        for range in held {
            let _ = range.acker.ack_with(AckKind::Nak(None)).await; // otherwise another worker gets it when its time is up
        }
    });
    let until = Instant::now() + Duration::from_secs(5);
    while shared.unsent.load(Ordering::Relaxed) > 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
    let left = shared.unsent.load(Ordering::Relaxed);
    let unsent = if left > 0 { format!("; {left} finished ranges are played again elsewhere") } else { String::new() };
    (shared.note)(Note::Line(format!("stopped; returned {given_back} ranges{unsent}")));
}

/// The name of this machine, with random digits.
fn automatic_name() -> String {
    let host = fs::read_to_string("/etc/hostname").ok().or_else(|| std::env::var("COMPUTERNAME").ok());
    let host = host.unwrap_or_default();
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    format!("{}-{}", if host.is_empty() { "worker" } else { &host }, hex(&rand::random::<[u8; 4]>()))
}

/// A thread that plays.
fn play(shared: &Shared, thread: usize) {
    while let Some(job) = shared.queue.wait() {
        let counter = ThreadCounter {
            next: &|most| shared.queue.next(&job, most),
            share: &|| shared.queue.share(&job, shared.threads),
            put: &|number, outcome| {
                shared.queue.done(&job, 1);
                shared.room.notify_one();
                shared.counters.add(Counter::Items, 1);
                let _ = shared.finished.send(Finished::Item { job: job.sum, number, outcome });
            },
            count: &|before, now| count(shared, before, now),
            stop: &shared.stop,
        };
        // A job comes from outside: if it cannot be played, others still can. The state that a panic leaves is dropped with it.
        let played = catch_unwind(AssertUnwindSafe(|| job.play(thread, shared.threads, &counter)));
        let fault = match played {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => format!("{error:#}"),
            Err(panic) => format!("playing it panics: {}", panic_text(&*panic)),
        };
        shared.queue.retire(&job.sum);
        let _ = shared.finished.send(Finished::Failure { job: job.sum, fault });
    }
}

/// Counts the work of a session between two of its statistics.
fn count(shared: &Shared, before: &SelfPlayStats, now: &SelfPlayStats) {
    let mut effort = lock(&shared.effort);
    effort.positions += now.positions.saturating_sub(before.positions);
    effort.simulations += now.simulations.saturating_sub(before.simulations);
    let (sum, now_cache, before_cache) = (&mut effort.cache, &now.cache, &before.cache);
    sum.requests += now_cache.requests.saturating_sub(before_cache.requests);
    sum.hits += now_cache.hits.saturating_sub(before_cache.hits);
    sum.merged += now_cache.merged.saturating_sub(before_cache.merged);
    sum.batches += now_cache.batches.saturating_sub(before_cache.batches);
    shared.counters.add(Counter::Positions, now.positions.saturating_sub(before.positions));
}

/// Reports to the server that the ranges here are still being played.
async fn speak(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let due: Vec<Arc<Acker>> = {
            let mut held = lock(&shared.held);
            let due = held.values_mut().filter(|held| held.spoken.elapsed() > held.ack_wait / 3);
            due.map(|held| {
                held.spoken = Instant::now();
                Arc::clone(&held.acker)
            })
            .collect()
        };
        for acker in due {
            let _ = acker.ack_with(AckKind::Progress).await; // otherwise another worker gets it
        }
    }
}

/// Publishes a heartbeat every second: that this worker is present, and what it does.
async fn beat(client: async_nats::Client, shared: Arc<Shared>) {
    let (mut rate, mut last) = (0.0, (Instant::now(), 0));
    let mut said = (Instant::now(), 0);
    loop {
        let positions = shared.counters.get(Counter::Positions);
        let seconds = last.0.elapsed().as_secs_f64();
        if seconds > 0.5 {
            rate = 0.7 * rate + 0.3 * (positions - last.1) as f64 / seconds;
            last = (Instant::now(), positions);
        }
        let (runs, refusals) = lock(&shared.runs).eligibility();
        let items = shared.counters.get(Counter::Items);
        if said.0.elapsed() > Duration::from_mins(1) && items > said.1 {
            (shared.note)(Note::Line(format!("{items} games and answers so far, {rate:.0} positions per second")));
            said = (Instant::now(), items);
        }
        let beat = Beat {
            protocol: PROTOCOL,
            worker: shared.name.clone(),
            program: shared.program.clone(),
            threads: shared.threads as u32,
            runs,
            done: [items, positions],
            rate,
            held: shared.queue.held() as u64,
            unsent: shared.unsent.load(Ordering::Relaxed),
            refusals,
        };
        let bytes = serde_json::to_vec(&beat).expect("plain fields");
        let _ = client.publish(worker_subject(&shared.name), bytes.into()).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Checks a number of threads.
///
/// # Errors
/// It is 0 or too large.
pub fn check_threads(threads: usize) -> Result<usize> {
    if (1..=MOST_THREADS).contains(&threads) {
        Ok(threads)
    } else {
        bail!("--threads is {threads}, but must be from 1 to {MOST_THREADS}")
    }
}

#[cfg(test)]
mod tests {
    use super::loaded::Loaded;
    use super::*;
    use crate::job::{Job, of_positions};
    use turnstone_agents::Agent;
    use turnstone_env::Params;

    #[test]
    fn a_job_that_panics_ends_itself_only() {
        let games = turnstone_games::list!(turnstone_selfplay::row);
        let game = games.make("mu_torere", &Params::new()).expect("a game");
        let agent = Agent::load(&"random".parse().expect("a spec"), &*game).expect("it plays");
        let start = game.position_text(&game.start());
        let load = |sum: u8| {
            let job = Job::decode(&of_positions(&*game, &agent, &[&start], 3), &games).expect("sound");
            Arc::new(Loaded::new([sum; 32], job))
        };
        let (finished, mut reports) = mpsc::unbounded_channel();
        let shared = Shared {
            program: "p".into(),
            name: "w".into(),
            games: games.clone(),
            threads: 1,
            queue: WorkQueue::default(),
            runs: Mutex::default(),
            held: Mutex::default(),
            next_range: AtomicU64::new(0),
            counters: Counters::default(),
            unsent: AtomicU64::new(0),
            effort: Mutex::default(),
            note: Arc::new(|_| {}),
            finished,
            room: Notify::new(),
            stop: AtomicBool::new(false),
        };
        let mut report = || {
            let until = Instant::now() + Duration::from_secs(20);
            while Instant::now() < until {
                match reports.try_recv() {
                    Ok(report) => return Some(report),
                    Err(_) => thread::sleep(Duration::from_millis(5)),
                }
            }
            None
        };
        thread::scope(|scope| {
            scope.spawn(|| play(&shared, 0));
            shared.queue.push(&load(1), std::iter::once(5), 1); // it has one position
            match report() {
                Some(Finished::Failure { job, fault }) => {
                    assert!(job == [1; 32] && fault.contains("panics: index out of bounds"), "{fault}");
                }
                _ => panic!("it is reported"),
            }
            assert_eq!(shared.queue.held(), 0, "nothing of it is left");
            shared.queue.push(&load(2), std::iter::once(0), 1);
            assert!(matches!(report(), Some(Finished::Item { number: 0, .. })), "the next job is played");
            shared.queue.close();
        });
    }
}

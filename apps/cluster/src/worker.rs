//! A worker: plays jobs of every run on the server, on all cores, until it is stopped.
//!
//! Its threads only play. Asynchronous tasks take jobs from the queues, report that jobs are still being played, and send
//! results until the server has stored them.

mod table;
mod play;
mod fetch;
mod send;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use async_nats::jetstream::message::AckKind;
use data_encoding::HEXLOWER;
use tokio::sync::{Notify, mpsc};
use turnstone_selfplay::Games;

use self::fetch::fetch;
use self::play::Hands;
use self::send::{Report, keep_alive, send};
use self::table::Table;
use crate::link::{Link, Note, TakeNote, lock, panic_text};
use crate::messages::is_name;
use crate::server::{ServerOptions, shown};

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

/// What the threads and tasks of a worker share.
struct Shared {
    program: String,
    name: String,
    games: Games,
    threads: usize,
    table: Table,
    /// Effort that no message has reported yet.
    effort: Mutex<[u64; 6]>,
    note: TakeNote,
    reports: mpsc::UnboundedSender<Report>,
    /// Notified when there may be room for another job.
    room: Notify,
    stop: AtomicBool,
}

/// Plays for the runs of a server until `stop` is set.
///
/// # Errors
/// The server cannot be reached at first or lacks something, or a thread failed.
pub fn work(settings: &WorkerSettings, games: &Games, note: &TakeNote, stop: &AtomicBool) -> Result<()> {
    ensure!(settings.name.iter().all(|name| is_name(name)), "a worker's name consists of a-z 0-9 - and _");
    let name = settings.name.clone().unwrap_or_else(automatic_name);
    let link = Link::connect(&settings.server, &name, Duration::MAX, stop, note)?;
    let (reports, receiver) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        program: settings.program.clone(),
        name,
        games: games.clone(),
        threads: settings.threads,
        table: Table::default(),
        effort: Mutex::default(),
        note: Arc::clone(note),
        reports,
        room: Notify::new(),
        stop: AtomicBool::new(false),
    });
    let url = shown(&settings.server.url);
    note(Note::Line(format!("worker {} with {} threads on {url}", shared.name, shared.threads)));
    link.spawn(fetch(link.js.clone(), Arc::clone(&shared)));
    link.spawn(keep_alive(Arc::clone(&shared)));
    link.spawn(send(link.js.clone(), Arc::clone(&shared), receiver));
    let start = |thread| {
        let shared = Arc::clone(&shared);
        thread::Builder::new().name(format!("play {thread}")).spawn(move || play(&shared, thread))
    };
    let threads: Vec<_> = (0..shared.threads).map(start).collect::<Result<_, _>>()?;
    let is_denied = || link.denied.load(Ordering::Relaxed);
    while !stop.load(Ordering::Relaxed) && !is_denied() && !threads.iter().any(thread::JoinHandle::is_finished) {
        thread::sleep(Duration::from_millis(50));
    }
    shared.stop.store(true, Ordering::Relaxed);
    shared.table.close();
    let failed = threads.into_iter().map(thread::JoinHandle::join).filter(Result::is_err).count();
    leave(&link, &shared);
    ensure!(failed == 0, "{failed} threads have failed");
    ensure!(
        !is_denied(),
        "the server denies its user the subjects of worker {}: give the --name that the user's permissions are for, or \
         extend them (docs/cluster.md)",
        shared.name
    );
    Ok(())
}

/// Waits a while until finished jobs are sent, and returns the others to the server.
fn leave(link: &Link, shared: &Shared) {
    let until = Instant::now() + Duration::from_secs(5);
    while shared.table.unsent() > 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
    let jobs = shared.table.clear();
    link.wait(async {
        for acker in &jobs {
            let _ = acker.ack_with(AckKind::Nak(None)).await; // otherwise another worker gets it when its time is up
        }
    });
    (shared.note)(Note::Line(format!("stopped; returned {} jobs", jobs.len())));
}

/// The name of this machine, with random digits.
fn automatic_name() -> String {
    let host = fs::read_to_string("/etc/hostname").ok().or_else(|| std::env::var("COMPUTERNAME").ok());
    let host = host.unwrap_or_default();
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let digits = HEXLOWER.encode(&rand::random::<[u8; 4]>());
    format!("{}-{digits}", if host.is_empty() { "worker" } else { &host })
}

/// A thread that plays.
fn play(shared: &Shared, thread: usize) {
    while let Some(loaded) = shared.table.wait() {
        let hands = Hands {
            next: &|most| shared.table.next(&loaded, most),
            share: &|| shared.table.share(shared.threads),
            put: &|number, outcome| {
                for job in shared.table.put(&loaded, number, &outcome) {
                    let _ = shared.reports.send(Report::Finished { job });
                }
                shared.room.notify_one();
            },
            count: &|effort| {
                let mut sum = lock(&shared.effort);
                sum.iter_mut().zip(effort).for_each(|(sum, new)| *sum += new);
            },
            stop: &shared.stop,
        };
        // If a work cannot be played, others still can. The state that a panic leaves is dropped with it.
        let fault = match catch_unwind(AssertUnwindSafe(|| loaded.play(thread, shared.threads, &hands))) {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => format!("{error:#}"),
            Err(panic) => format!("playing it panics: {}", panic_text(&*panic)),
        };
        for (run, acker, results) in shared.table.abandon(&loaded) {
            let results = crate::Results { failed: Some(fault.clone()), ..results };
            let _ = shared.reports.send(Report::Failed { run, acker, results });
        }
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

//! A worker: plays jobs of every run on the server, on all cores, until it is stopped.
//!
//! Its threads only play. One task takes jobs from the queues, another one sends their results until the server has stored
//! them; every job has a task that tells the server that it is being played.

mod job;
mod play;
mod fetch;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use crossbeam_channel::unbounded;
use data_encoding::HEXLOWER;
use tokio::sync::{Notify, mpsc};
use turnstone_agents::search::Stop;
use turnstone_selfplay::Games;

use self::fetch::fetch;
use self::job::{Shared, send};
use self::play::Desk;
use crate::link::{Link, Note, TakeNote};
use crate::messages::is_name;
use crate::server::{ServerOptions, shown};

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

/// Plays for the runs of a server until `stop` is raised.
///
/// # Errors
/// The server cannot be reached at first or lacks something, or a thread failed.
pub fn work(settings: &WorkerSettings, games: &Games, note: &TakeNote, stop: &Stop) -> Result<()> {
    ensure!(settings.name.iter().all(|name| is_name(name)), "a worker's name consists of a-z 0-9 - and _");
    let threads = settings.threads;
    ensure!((1..=1024).contains(&threads), "--threads is {threads}, but must be from 1 to 1024");
    let name = settings.name.clone().unwrap_or_else(automatic_name);
    let link = Link::connect(&settings.server, &name, Duration::MAX, stop, note)?;
    let (done, receiver) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        program: settings.program.clone(),
        name,
        games: games.clone(),
        threads: settings.threads,
        jobs: unbounded(),
        open: AtomicUsize::new(0),
        effort: Mutex::default(),
        done,
        room: Notify::new(),
        stop: Stop::default(),
        handle: link.handle().clone(),
        note: Arc::clone(note),
    });
    let url = shown(&settings.server.url);
    note(Note::Line(format!("worker {} with {} threads on {url}", shared.name, shared.threads)));
    link.handle().spawn(fetch(link.js.clone(), Arc::clone(&shared)));
    link.handle().spawn(send(link.js.clone(), Arc::clone(&shared), receiver));
    let start = |thread| {
        let shared = Arc::clone(&shared);
        thread::Builder::new().name(format!("play {thread}")).spawn(move || play(&shared, thread))
    };
    let threads: Vec<_> = (0..shared.threads).map(start).collect::<Result<_, _>>()?;
    let is_denied = || link.denied.load(Ordering::Relaxed);
    while !stop.is_raised() && !is_denied() && !threads.iter().any(thread::JoinHandle::is_finished) {
        thread::sleep(Duration::from_millis(50));
    }
    shared.stop.raise();
    let failed = threads.into_iter().map(thread::JoinHandle::join).filter(Result::is_err).count();
    shared.jobs.1.try_iter().for_each(drop); // which returns them
    let until = Instant::now() + Duration::from_secs(5);
    while shared.open.load(Ordering::Relaxed) > 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(20)); // finished jobs are being sent
    }
    note(Note::Line("stopped".to_owned()));
    ensure!(failed == 0, "{failed} threads have failed");
    ensure!(
        !is_denied(),
        "the server denies its user the subjects of worker {}: give the --name that the user's permissions are for, or \
         extend them (docs/cluster.md)",
        shared.name
    );
    Ok(())
}

/// A thread that plays.
fn play(shared: &Shared, thread: usize) {
    let mut next = None;
    while !shared.stop.is_raised() {
        let Some(job) = next.take().or_else(|| shared.jobs.1.recv_timeout(Duration::from_millis(50)).ok()) else {
            continue;
        };
        let mut desk = Desk::new(shared, job);
        // The state that a panic leaves is dropped with its work.
        let fault = match catch_unwind(AssertUnwindSafe(|| desk.play(thread))) {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("{error:#}")),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                Some(format!("playing it panics: {}", text.unwrap_or_default()))
            }
        };
        next = desk.leave(fault.as_deref());
    }
}

/// The name of this machine, with random digits.
fn automatic_name() -> String {
    let host = fs::read_to_string("/etc/hostname").ok().or_else(|| std::env::var("COMPUTERNAME").ok());
    let host = host.unwrap_or_default();
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let digits = HEXLOWER.encode(&rand::random::<[u8; 4]>());
    format!("{}-{digits}", if host.is_empty() { "worker" } else { &host })
}

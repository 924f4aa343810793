//! The leader of a run: assigns the items of jobs, collects their outcomes and keeps them on its own disk.
//!
//! Nothing depends on what the server remembers. The leader knows which items are on its own disk, and hands out the missing
//! ones again if no worker plays them.

mod journal;
mod workers;
mod schedule;
mod listening;
mod announcing;
mod handing_out;
mod taking;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use async_nats::jetstream;
use tokio::sync::mpsc;
use turnstone_models::Precision;

use self::journal::{Journal, run_name};
use self::listening::{AT_ONCE, keep_announcing, listen, receive, refuse_second};
use self::workers::{WorkerNotices, Workers};
use crate::counters::{Counter, Counters};
use crate::link::{Link, ensure_storage};
use crate::messages::{Announcement, Effort, PROTOCOL};
use crate::notes::{Note, TakeNote, lock};
use crate::probe::Probe;
use crate::server::{ServerOptions, shown};
use crate::stored::remove_job;
use crate::wire::{hex, sha256};

/// Time between checks of the queue.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time that a leader waits for a server at its start.
const SERVER_PATIENCE: Duration = Duration::from_secs(10);

/// Settings of a leader.
#[derive(Clone, Debug)]
pub struct LeaderSettings {
    /// Name and version of the program. Only workers of the same play for the run.
    pub program: String,
    /// The server.
    pub server: ServerOptions,
    /// Folder for the run's name and its outcomes, from which the next leader continues; without one, the run ends with its
    /// leader.
    pub folder: Option<PathBuf>,
    /// Time after which a range whose worker is silent is given to another.
    pub ack_wait: Duration,
}

/// The leader of a run.
pub struct Leader {
    link: Link,
    settings: LeaderSettings,
    folder: PathBuf,
    /// The folder, if it is removed with the leader.
    temporary: Option<tempfile::TempDir>,
    run: String,
    note: TakeNote,
    /// Random identifier of this leader, a part of the identifiers of its messages.
    own: String,
    workers: Arc<Mutex<Workers>>,
    pub(crate) counters: Counters,
    announcement: Arc<Mutex<Announcement>>,
    kept: Mutex<BetweenJobs>,
}

/// What a leader keeps from one job to the next.
struct BetweenJobs {
    messages: mpsc::Receiver<jetstream::Message>,
    /// SHA-256 of the newest job of self-play, which is kept with its journal until the one after the next.
    newest: Option<[u8; 32]>,
    notices: WorkerNotices,
    /// Whether the server had the streams and consumers when it last took ranges.
    is_ready: bool,
}

impl BetweenJobs {
    fn new(messages: mpsc::Receiver<jetstream::Message>) -> Self {
        Self { messages, newest: None, notices: WorkerNotices::default(), is_ready: false }
    }
}

/// Takes the outcome of the item with this number, or says what is wrong with it.
type PutItem<'a> = &'a mut dyn FnMut(usize, &[u8]) -> Result<Result<(), String>>;

/// The items of a job, and what its owner does with their outcomes.
pub(crate) struct Items<'a> {
    /// The job as workers fetch it.
    pub(crate) job: &'a [u8],
    /// What is being played, in a few words.
    pub(crate) stage: String,
    pub(crate) count: usize,
    /// Number of consecutive items that one range holds together.
    pub(crate) group: usize,
    /// Maximum number of items of a range.
    pub(crate) most: usize,
    /// Whether the journals of earlier jobs can be removed when this job is new.
    pub(crate) begins_iteration: bool,
    pub(crate) put: PutItem<'a>,
    /// Whether an item is still needed.
    pub(crate) is_needed: &'a dyn Fn(usize) -> bool,
    /// Takes the effort that workers report.
    pub(crate) effort: &'a mut dyn FnMut(&Effort),
    /// Takes the number of items received.
    pub(crate) progress: &'a dyn Fn(usize),
    pub(crate) stop: &'a AtomicBool,
}

/// The state of the job that is being played.
struct ActiveJob<'i, 'a> {
    items: &'i mut Items<'a>,
    /// SHA-256 of the job.
    sum: [u8; 32],
    /// Whether each item has an outcome, and the number of those that have none.
    received: Vec<bool>,
    missing: usize,
    journal: Journal,
    /// When something new last arrived, or the missing items were handed out.
    news: Instant,
    /// Whether the missing items are in the work queue.
    published: bool,
    /// Number of messages that have handed out items, for their identifiers.
    attempt: u64,
}

impl Leader {
    /// Connects to the server and begins to announce the run, under the name that an earlier leader of the same folder
    /// gave it.
    ///
    /// # Errors
    /// The server cannot be reached at first, or the folder cannot be written.
    pub fn new(
        settings: LeaderSettings,
        game: &dyn turnstone_env::DynGame,
        probe: Probe,
        note: TakeNote,
        stop: &AtomicBool,
    ) -> Result<Self> {
        let (folder, temporary) = folder_of(&settings)?;
        let (run, is_new) = run_name(&folder, game.name())?;
        let link = connect(&settings.server, &run, &note, stop)?;
        if !is_new {
            link.wait(refuse_second(&link.client, &run))?;
        }
        let (sender, messages) = mpsc::channel(AT_ONCE);
        let leader = Self {
            announcement: Arc::new(Mutex::new(announcement(&settings, &run, game, probe))),
            link,
            settings,
            folder,
            temporary,
            run,
            note,
            own: hex(&rand::random::<[u8; 6]>()),
            workers: Arc::default(),
            counters: Counters::default(),
            kept: Mutex::new(BetweenJobs::new(messages)),
        };
        leader.start_tasks(sender)?;
        Ok(leader)
    }

    /// Starts what runs beside the leader: announcements, the listener, the receiver of results.
    fn start_tasks(&self, sender: mpsc::Sender<jetstream::Message>) -> Result<()> {
        let (link, run) = (&self.link, &self.run);
        link.spawn(keep_announcing(link.client.clone(), Arc::clone(&self.announcement)));
        link.spawn(listen(link.client.clone(), run.clone(), Arc::clone(&self.workers), Arc::clone(&self.note)));
        link.spawn(receive(link.js.clone(), run.clone(), sender));
        self.line(format!("leading {run} on {}", shown(&self.settings.server.url)));
        Ok(())
    }

    /// Whether all workers compute with the floats of this machine, as the self-test has shown. Otherwise it has shown
    /// that only of integers.
    #[must_use]
    pub fn has_same_floats(&self) -> bool {
        lock(&self.announcement).probe.precision == Precision::F32
    }

    fn line(&self, text: String) {
        (self.note)(Note::Line(text));
    }

    fn warning(&self, text: String) {
        (self.note)(Note::Warning(text));
    }

    /// Has workers play the items of a job. Returns false if `stop` was set before the end.
    pub(crate) fn carry_out(&self, items: &mut Items<'_>) -> Result<bool> {
        let mut kept = lock(&self.kept);
        let mut active = self.begin(items, &mut kept)?;
        self.announce_stage(&active);
        self.announce_now(); // before the ranges: workers set aside those of a job that is not announced
        let done = self.collect(&mut active, &mut kept);
        let mut announcement = lock(&self.announcement);
        (announcement.stage, announcement.job, announcement.items) = (String::new(), String::new(), [0, 0]);
        drop(announcement);
        self.counters.set(Counter::Missing, 0);
        if !active.items.begins_iteration {
            let _ = self.link.wait(remove_job(&self.link.js, &active.sum));
        }
        done
    }

    /// Opens the journal of a job and takes the outcomes in it.
    fn begin<'i, 'a>(&self, items: &'i mut Items<'a>, kept: &mut BetweenJobs) -> Result<ActiveJob<'i, 'a>> {
        let sum = sha256(items.job);
        if items.begins_iteration && kept.newest != Some(sum) {
            if !journal::exists(&self.folder, &sum) && self.folder.exists() {
                self.remove_jobs(kept.newest.as_slice()).context("removing journals")?;
            }
            kept.newest = Some(sum);
        }
        let (journal, known) = Journal::open(&self.folder, &sum)?;
        let count = items.count;
        let mut active = ActiveJob {
            items,
            sum,
            received: vec![false; count],
            missing: count,
            journal,
            news: Instant::now(),
            published: false,
            attempt: 0,
        };
        let count = known.len();
        for (number, item) in known {
            if let Err(fault) = self.take(&mut active, number as usize, &item)? {
                self.warning(format!("{}, item {number} in the journal: {fault}", active.items.stage));
            }
        }
        if count > 0 {
            self.line(format!("{}: resuming with {count} items", active.items.stage));
        }
        Ok(active)
    }

    /// Hands out and collects until nothing is missing. Returns false if `stop` was set before.
    fn collect(&self, active: &mut ActiveJob<'_, '_>, kept: &mut BetweenJobs) -> Result<bool> {
        let mut looked = Instant::now();
        let mut is_failing = false;
        loop {
            if active.items.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            if (0..active.received.len()).all(|number| active.received[number] || !(active.items.is_needed)(number)) {
                return Ok(true);
            }
            if !active.published {
                let published = self.prepare_queue(kept.is_ready).and_then(|()| self.publish_missing(active));
                (active.published, kept.is_ready) = (published.is_ok(), published.is_ok());
                if let Err(error) = published {
                    if !std::mem::replace(&mut is_failing, true) {
                        self.warning(format!("{}: {error:#}; trying again", active.items.stage));
                    }
                    std::thread::sleep(LOOK_EVERY);
                    continue;
                }
                is_failing = false;
            }
            self.receive_some(active, &mut kept.messages)?;
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                self.announce_stage(active);
                self.note_waiting(&mut kept.notices);
                self.hand_out_again(active, &mut kept.is_ready);
            }
        }
    }
}

/// The folder of a leader, and what removes it at the end if the settings name none.
fn folder_of(settings: &LeaderSettings) -> Result<(PathBuf, Option<tempfile::TempDir>)> {
    if let Some(folder) = &settings.folder {
        return Ok((folder.clone(), None));
    }
    let temporary = tempfile::Builder::new().prefix("turnstone-leader-").tempdir().context("a temporary folder")?;
    Ok((temporary.path().to_owned(), Some(temporary)))
}

/// Connects to the server under the name of the run, and creates the streams that it lacks.
fn connect(server: &ServerOptions, run: &str, note: &TakeNote, stop: &AtomicBool) -> Result<Link> {
    let of_link = Arc::clone(note);
    let link = Link::connect(server, run, SERVER_PATIENCE, stop, move |text| of_link(Note::Line(text)))?;
    let began = Instant::now();
    while let Err(error) = link.wait(ensure_storage(&link.js)) {
        // A server that has just been started may not have read its store yet.
        if began.elapsed() > SERVER_PATIENCE || stop.load(Ordering::Relaxed) {
            return Err(error).with_context(|| format!("server {}", shown(&server.url)));
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    Ok(link)
}

/// The announcement of a run between two jobs.
fn announcement(settings: &LeaderSettings, run: &str, game: &dyn turnstone_env::DynGame, probe: Probe) -> Announcement {
    Announcement {
        protocol: PROTOCOL,
        run: run.to_owned(),
        program: settings.program.clone(),
        game: game.name().to_owned(),
        version: game.version(),
        params: game.params(),
        probe,
        stage: String::new(),
        job: String::new(),
        items: [0, 0],
        ack_wait: settings.ack_wait.as_millis() as u64,
        over: false,
    }
}

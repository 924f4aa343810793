//! The leader of a run: hands out the items of jobs, collects their outcomes, and lets no worker spoil them.
//!
//! Nothing depends on what the server remembers. The leader knows which items it has on its own disk; if others are
//! missing and no one plays them, it hands them out again.

mod collection;
mod journal;
mod roster;
mod schedule;
mod waits;
mod run_name;
mod rival;
mod listening;
mod leftovers;
mod announcing;
mod handing_out;
mod taking;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use async_nats::jetstream;
use tokio::sync::mpsc;
use turnstone_base::streams::Stream;
use turnstone_models::Precision;

use self::collection::Collection;
pub(crate) use self::collection::Handing;
use self::journal::{Journal, Outcome};
use self::leftovers::remove_leftovers;
use self::listening::{AT_ONCE, Listening, announce, listen, receive};
use self::rival::{Rival, listen_for_rival, wait_for_rival};
use self::roster::Roster;
use self::run_name::{random_stream, run_name};
use self::waits::Waits;
use crate::counters::{Counter, Counters, serve};
use crate::identity::{checksum, random};
use crate::lines::Lines;
use crate::link::{Link, ensure_storage};
use crate::messages::{Announcement, Effort};
use crate::names::PROTOCOL;
use crate::notes::{Note, TakeNote, lock};
use crate::probe::Probe;
use crate::server::{ServerOptions, shown};
use crate::stored::remove_job;
use crate::wire::hex;

/// Time between looks at the queue.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time that a range is thought to take before any worker has said.
const RANGE_TIME: Duration = Duration::from_secs(20);
/// Time for which a leader waits for a server at its start.
const SERVER_PATIENCE: Duration = Duration::from_secs(10);

/// Settings of a leader.
#[derive(Clone, Debug)]
pub struct LeaderSettings {
    /// Name and version of the program. Only workers of the same play for the run.
    pub program: String,
    /// The server.
    pub server: ServerOptions,
    /// Folder for the run's name and what has been received, from which another leader goes on; without one, the run is
    /// over with its leader.
    pub folder: Option<PathBuf>,
    /// Share of the items that are played twice, by different workers, and compared.
    pub verify: f64,
    /// Time after which a range that no worker speaks for is given to another.
    pub ack_wait: Duration,
    /// Address at which Prometheus reads counters.
    pub metrics: Option<SocketAddr>,
}

/// The leader of a run.
pub struct Leader {
    link: Link,
    settings: LeaderSettings,
    folder: PathBuf,
    /// The folder, if it is one that goes with the leader.
    temporary: Option<tempfile::TempDir>,
    run: String,
    note: TakeNote,
    began: Instant,
    rival: Arc<Rival>,
    roster: Arc<Mutex<Roster>>,
    pub(crate) counters: Arc<Counters>,
    announcement: Arc<Mutex<Announcement>>,
    incoming: Mutex<Incoming>,
    /// What has been said of workers that are left out, and of messages that are refused.
    exclusions: Mutex<Lines>,
    rejections: Arc<Mutex<Lines>>,
}

struct Incoming {
    messages: mpsc::Receiver<jetstream::Message>,
    rng: Stream,
    /// The newest job of self-play. It and its journal are kept until the one after the next.
    newest: Option<[u8; 32]>,
    /// Mean time that workers say a range takes.
    range_time: Duration,
    waits: Waits,
    /// Whether the server had the streams and consumers when it last took ranges.
    is_ready: bool,
    /// Whether a journal has been read for the workers that have passed checks.
    knows_passed: bool,
}

/// Checks an outcome of this number, and keeps nothing of it.
type CheckItem<'a> = &'a dyn Fn(usize, &[u8]) -> Result<(), String>;

/// The items of a job.
pub(crate) struct Items<'a> {
    pub(crate) job: &'a [u8],
    /// What is being played, in a few words.
    pub(crate) stage: String,
    pub(crate) count: usize,
    /// Items that belong together.
    pub(crate) group: usize,
    /// Maximum number of items of a range.
    pub(crate) most: usize,
    /// Whether the journals of earlier jobs are of no use any more when this job is new.
    pub(crate) begins_iteration: bool,
    /// Checks an outcome, which may come from anywhere.
    pub(crate) check: CheckItem<'a>,
    /// What may become of an outcome once it has been put.
    pub(crate) handing: Handing,
    /// Takes an outcome that has been checked, in place of an earlier one if they are replaceable.
    pub(crate) put: &'a mut dyn FnMut(usize, &[u8]) -> Result<()>,
    /// Plays an item here.
    pub(crate) play_here: &'a dyn Fn(usize) -> Result<Vec<u8>>,
    /// Whether an item is still needed.
    pub(crate) is_needed: &'a dyn Fn(usize) -> bool,
    /// Takes what workers say of their effort.
    pub(crate) effort: &'a mut dyn FnMut(&Effort),
    pub(crate) progress: &'a dyn Fn(usize),
    pub(crate) stop: &'a AtomicBool,
}

/// A job in progress.
struct Course<'i, 'a> {
    items: &'i mut Items<'a>,
    job: [u8; 32],
    collection: Collection,
    journal: Journal,
    began: Instant,
    /// When there was something new.
    news: Instant,
    /// Mean time that workers say a range takes.
    range_time: Duration,
    /// Factor of the patience, doubled whenever items were handed out again in vain.
    backoff: u32,
    /// Whether the missing items have been handed out at all.
    published: bool,
    /// When the stored job was last read back since workers could not read it, and the refusals that were known then.
    read_back: (Option<Instant>, u64),
    attempt: u64,
}

impl Leader {
    /// Connects to the server and begins to announce the run, under the name that an earlier leader of the same folder
    /// gave it.
    ///
    /// # Errors
    /// The server cannot be reached at first, or the folder cannot be written.
    // long because every part of the leader is made once, in the order in which they depend on each other
    pub fn new(
        settings: LeaderSettings,
        game: &dyn turnstone_env::DynGame,
        probe: Probe,
        note: TakeNote,
        stop: &AtomicBool,
    ) -> Result<Self> {
        ensure!((0.0..=1.0).contains(&settings.verify), "verify is {}, but must be from 0 to 1", settings.verify);
        let temporary = match settings.folder {
            Some(_) => None,
            None => Some(tempfile::Builder::new().prefix("turnstone-leader-").tempdir().context("a temporary folder")?),
        };
        let folder = temporary.as_ref().map(|folder| folder.path().to_owned());
        let folder = settings.folder.clone().or(folder).unwrap_or_default();
        let (run, is_new) = run_name(&folder, game.name(), temporary.is_some())?;
        let of_link = Arc::clone(&note);
        let link = Link::connect(&settings.server, &run, SERVER_PATIENCE, stop, move |text| of_link(Note::Line(text)))?;
        let began = Instant::now();
        while let Err(error) = link.wait(ensure_storage(&link.js)) {
            // A server that has just been started may not have read its store yet.
            if began.elapsed() > SERVER_PATIENCE || stop.load(Ordering::Relaxed) {
                return Err(error).with_context(|| format!("server {}", shown(&settings.server.url)));
            }
            std::thread::sleep(Duration::from_millis(300));
        }
        let rival = Arc::new(Rival::new(hex(&random::<6>()?)));
        link.spawn(listen_for_rival(link.js.client(), run.clone(), Arc::clone(&rival)));
        if !is_new {
            let say = || note(Note::Warning(rival::found(&run)));
            wait_for_rival(&rival, || stop.load(Ordering::Relaxed), say)?;
        }
        let announcement = Arc::new(Mutex::new(Announcement {
            protocol: PROTOCOL,
            run: run.clone(),
            program: settings.program.clone(),
            game: game.name().to_owned(),
            version: game.version(),
            params: game.params(),
            probe,
            stage: String::new(),
            job: String::new(),
            items: [0, 0],
            ack_wait: settings.ack_wait.as_millis() as u64,
            excluded: Vec::new(),
            over: false,
        }));
        let (roster, counters) = (Arc::<Mutex<Roster>>::default(), Arc::<Counters>::default());
        let (sender, messages) = mpsc::channel(AT_ONCE);
        link.spawn(announce(link.js.client(), run.clone(), Arc::clone(&announcement), Arc::clone(&rival)));
        let rejections = Arc::<Mutex<Lines>>::default();
        let listening = Listening {
            run: run.clone(),
            roster: Arc::clone(&roster),
            rejections: Arc::clone(&rejections),
            refusals: Lines::default(),
            note: Arc::clone(&note),
        };
        link.spawn(listen(link.js.client(), listening));
        link.spawn(receive(link.js.clone(), run.clone(), sender, Arc::clone(&rival)));
        link.spawn(remove_leftovers(link.js.clone(), run.clone(), Arc::clone(&note)));
        if let Some(address) = settings.metrics {
            let bound = serve(address, format!("role=\"leader\",run=\"{run}\""), Arc::clone(&counters))?;
            note(Note::Line(format!("metrics: http://{bound}/metrics")));
        }
        note(Note::Line(format!("leading {run} on {}", shown(&settings.server.url))));
        let incoming = Mutex::new(Incoming {
            messages,
            rng: random_stream()?,
            newest: None,
            range_time: RANGE_TIME,
            waits: Waits::default(),
            is_ready: false,
            knows_passed: false,
        });
        let began = Instant::now();
        let exclusions = Mutex::default();
        Ok(Self {
            link,
            settings,
            folder,
            temporary,
            run,
            note,
            began,
            rival,
            roster,
            counters,
            announcement,
            incoming,
            exclusions,
            rejections,
        })
    }

    /// Name of the run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
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
    // long because it is the course of a job from its journal to its end
    pub(crate) fn carry_out(&self, items: &mut Items<'_>) -> Result<bool> {
        let mut incoming = lock(&self.incoming);
        let job = checksum(items.job);
        if items.begins_iteration && incoming.newest != Some(job) {
            if !journal::exists(&self.folder, &job) && self.folder.exists() {
                self.remove_jobs(incoming.newest.as_slice()).context("removing journals")?;
            }
            incoming.newest = Some(job);
        }
        let (journal, outcomes, passed) = Journal::open(&self.folder, &job)?;
        if !std::mem::replace(&mut incoming.knows_passed, true) {
            passed.into_iter().for_each(|key| lock(&self.roster).pass(key));
        }
        let collection = Collection::new(items.count, self.settings.verify, items.handing);
        let mut course = Course {
            items,
            job,
            collection,
            journal,
            began: Instant::now(),
            news: Instant::now(),
            range_time: incoming.range_time,
            backoff: 1,
            published: false,
            read_back: (None, lock(&self.roster).refusals),
            attempt: 0,
        };
        let known = outcomes.len();
        for Outcome { number, key, item } in outcomes {
            self.take(&mut course, &mut incoming.rng, number as usize, key, item, true)?;
        }
        if known > 0 {
            self.line(format!("{}: {known} items are there already", course.items.stage));
        }
        self.announce_stage(&course);
        self.announce_now(); // before the ranges, which workers put aside if they are of no announced job
        let done = self.collect(&mut course, &mut incoming);
        incoming.range_time = course.range_time;
        let mut announcement = lock(&self.announcement);
        (announcement.stage, announcement.job, announcement.items) = (String::new(), String::new(), [0, 0]);
        drop(announcement);
        self.counters.set(Counter::Missing, 0);
        if !course.items.begins_iteration {
            let _ = self.link.wait(remove_job(&self.link.js, &job));
        }
        done
    }

    // long because it is the loop that waits for results, with every way out of it
    fn collect(&self, course: &mut Course<'_, '_>, incoming: &mut Incoming) -> Result<bool> {
        let mut looked = Instant::now();
        let mut faults = 0u32;
        loop {
            if course.items.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            if self.rival.is_there() {
                self.give_way(course, incoming);
                continue;
            }
            self.release(course)?;
            if self.is_complete(course) {
                return Ok(true);
            }
            if !course.published {
                let published = self.publish_missing(course, Some(incoming.is_ready));
                incoming.is_ready = published.is_ok();
                match published {
                    Ok(()) => (course.published, faults) = (true, 0),
                    Err(error) => {
                        faults += 1;
                        if faults == 1 {
                            self.warning(format!("{}: {error:#}; trying again", course.items.stage));
                        }
                        std::thread::sleep(LOOK_EVERY);
                        continue;
                    }
                }
            }
            self.receive_some(course, incoming)?;
            self.check_overdue(course, &mut incoming.rng)?;
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                self.announce_stage(course);
                self.note_waiting(&mut incoming.waits);
                self.restore_job(course);
                self.hand_out_again(course, &mut incoming.is_ready);
            }
        }
    }

    /// Whether all items that are needed are there and handed on, and nothing remains to be checked.
    fn is_complete(&self, course: &Course<'_, '_>) -> bool {
        let needed = |number: usize| (course.items.is_needed)(number);
        let is_there = |number: usize| course.collection.is_handed_on(number);
        course.collection.checks.iter().all(|check| !needed(check.number))
            && (0..course.collection.len()).all(|number| is_there(number) || !needed(number))
    }

    /// Hands on the outcomes of workers that have been checked.
    fn release(&self, course: &mut Course<'_, '_>) -> Result<()> {
        let ready = {
            let roster = lock(&self.roster);
            course.collection.hand_on(|key| self.settings.verify <= 0.0 || roster.is_trusted(key))
        };
        ready.into_iter().try_for_each(|(number, item)| (course.items.put)(number, &item))
    }
}

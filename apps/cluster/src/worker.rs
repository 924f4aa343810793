//! A worker: plays jobs of every run on the server, on all cores, until it is stopped.

mod play;

use std::fs;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use async_nats::jetstream::consumer::{Consumer, FromConsumer, Info, pull};
use clap::Args;
use data_encoding::HEXLOWER;
use futures_util::TryStreamExt;
use turnstone_agents::search::Stop;
use turnstone_base::machine::cores;
use turnstone_base::terminal::Reporter;
use turnstone_selfplay::{Games, TrainableGame};

use self::play::{Queue, Worker};
use crate::link::{Link, lock};
use crate::messages::{JOBS, is_name};
use crate::probe::Run;
use crate::server::Credentials;

/// Time between two looks for queues.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time after which a queue without jobs is no longer asked, so that the server forgets it in time.
const ASKED_FOR: Duration = Duration::from_mins(1);

/// A worker of a cluster.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  turnstone worker nats://leader:4222
      play for every run of the server, on all cores
  turnstone worker nats://leader:4222 --threads 2 --name desk
      on two threads, under a name")]
pub struct WorkerOptions {
    /// NATS server of the cluster, e.g. nats://leader:4222
    url: String,
    /// Name of the worker, of letters, digits, - and _ [default: that of the machine, with random digits]
    #[arg(long)]
    name: Option<String>,
    /// Number of threads [default: one per core]
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    credentials: Credentials,
    /// Print nothing but warnings and errors
    #[arg(long)]
    quiet: bool,
}

/// Plays for the runs of a server whose leaders are of the same program, until `stop` is raised.
///
/// # Errors
/// The server cannot be reached at first or lacks something.
pub fn work(options: &WorkerOptions, program: &str, games: &Games, stop: &Stop) -> Result<()> {
    ensure!(options.name.iter().all(|name| is_name(name)), "a worker's name consists of a-z 0-9 - and _");
    let threads = options.threads.unwrap_or_else(cores);
    ensure!((1..=1024).contains(&threads), "--threads is {threads}, but must be from 1 to 1024");
    let name = options.name.clone().unwrap_or_else(automatic_name);
    let reporter = Arc::new(Reporter::new(options.quiet));
    let link = Link::connect(&options.url, &options.credentials, &name, Duration::MAX, stop, &reporter)?;
    reporter.line(&format!("worker {name} with {threads} threads on {}", options.url));
    let (queues, said) = (Mutex::default(), Mutex::default());
    let worker = Worker { name, threads, program, games, stop, reporter, link, queues, said };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(|| worker.play())).collect();
        while !stop.is_raised() {
            worker.look();
            (0..20).take_while(|_| !stop.is_raised()).for_each(|_| thread::sleep(LOOK_EVERY / 20));
        }
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            lock(&worker.queues).values().for_each(|queue| queue.forget());
            thread::sleep(Duration::from_millis(20));
        }
    });
    worker.reporter.line("stopped");
    Ok(())
}

impl Worker<'_> {
    /// Looks at which runs have queues. A new one begins with the self-test.
    fn look(&self) {
        let js = &self.link.js;
        let list = async { Ok(js.get_stream_no_info(JOBS).await?.consumers().try_collect::<Vec<Info>>().await?) };
        // Without an answer, no leader has made the stream, or the server is away.
        let Ok::<_, anyhow::Error>(infos) = self.link.wait(list) else { return };
        let mut queues = lock(&self.queues);
        for (run, queue) in queues.extract_if(.., |run, _| !infos.iter().any(|info| info.name == *run)) {
            queue.forget();
            self.reporter.line(&format!("run {run} is over"));
        }
        for info in infos {
            let (run, has_jobs) = (info.name.clone(), info.num_pending > 0 || info.num_ack_pending > 0);
            if queues.get(&run).is_none_or(|queue| queue.info().config != info.config) {
                let game = match self.confirm(info.config.description.as_deref().unwrap_or_default()) {
                    Ok(game) => {
                        self.reporter.line(&format!("playing for run {run} of {}", game.name()));
                        Some(game)
                    }
                    Err(why) => {
                        self.reporter.warning(&format!("not playing for run {run}: {why:#}"));
                        None
                    }
                };
                let Ok(config) = pull::Config::try_from_consumer_config(info.config.clone()) else { continue };
                let consumer = Consumer::new(config, info, js.clone());
                let (asked_until, loaded) = (Mutex::new(Instant::now()), Mutex::default());
                let queue = Arc::new(Queue { consumer, game, asked_until, loaded });
                queues.insert(run.clone(), queue).into_iter().for_each(|last| last.forget());
            }
            if has_jobs {
                *lock(&queues[&run].asked_until) = Instant::now() + ASKED_FOR;
            }
        }
    }

    /// The game of a run, if this worker can play for it.
    fn confirm(&self, description: &str) -> Result<Arc<dyn TrainableGame>> {
        let run: Run = serde_json::from_str(description).context("its description is not one of this version")?;
        let (theirs, ours) = (&*run.program, self.program);
        ensure!(theirs == ours, "its leader is {theirs}, this worker {ours}: use the same");
        let game = self.games.make(&run.game, &run.params)?;
        let version = game.version();
        ensure!(version == run.version, "its {} is version {}, here it is version {version}", run.game, run.version);
        run.probe.confirm(&*game)?;
        Ok(game)
    }
}

/// The name of this machine, with random digits.
fn automatic_name() -> String {
    let host = fs::read_to_string("/etc/hostname").unwrap_or_else(|_| "worker".to_owned());
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    format!("{host}-{}", HEXLOWER.encode(&rand::random::<[u8; 4]>()))
}

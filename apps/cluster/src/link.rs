//! The connection to a server, and the streams on it. The rest of the crate sees a blocking interface in front of tokio and
//! the client of NATS.

use std::collections::HashSet;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{Config as StreamConfig, DiscardPolicy, RetentionPolicy};
use async_nats::jetstream::{self, Context as JetStream};
use async_nats::{Client, ConnectErrorKind, Event};
use tokio::runtime::Runtime;

use crate::messages::{ALL_JOBS, ALL_RESULTS, ALL_WORK, JOBS, RESULTS, WORK, is_of, result_subject, work_subject};
use crate::notes::lock;
use crate::server::{ANSWER, ServerOptions, addresses, connect_options, shown};

/// Time after which the server drops messages and consumers that nobody uses.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(72);
/// Smallest `max_payload` that a server must have: room for a long game, which is not divided, and for a heartbeat with many
/// refusals. Pieces of jobs are as long as the server allows (`stored.rs`).
const LEAST_PAYLOAD: usize = 128 << 10;
/// Number of denials of subjects of a client's own name after which the client gives up.
const MOST_DENIALS: u32 = 3;
/// Time that the end of a connection waits for its tasks.
const LAST_WAIT: Duration = Duration::from_millis(200);

/// A connection that restores itself after an interruption.
pub(crate) struct Link {
    /// `None` once the link is being dropped.
    runtime: Option<Runtime>,
    pub(crate) client: Client,
    pub(crate) js: JetStream,
    /// Number of times that the server has denied a subject of the client's own name.
    denials: Arc<AtomicU32>,
}

impl Link {
    /// Connects. `name` is the client's name on the server and part of its inbox; `note` receives lines about the
    /// connection. An unreachable server is tried again until `patience` is over or `stop` is set.
    pub(crate) fn connect(
        options: &ServerOptions,
        name: &str,
        patience: Duration,
        stop: &AtomicBool,
        note: impl Fn(String) + Send + Sync + 'static,
    ) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("cluster")
            .enable_all()
            .build()
            .context("starting the thread of the connection")?;
        let shown = shown(&options.url);
        let (note, began) = (Arc::new(note), Instant::now());
        let denials = Arc::<AtomicU32>::default();
        let connecting = || {
            let (note, denials) = (Arc::clone(&note), Arc::clone(&denials));
            let (name, is_first, errors) = (name.to_owned(), AtomicBool::new(true), Mutex::default());
            let events = Events { note, name, is_first, denials, errors };
            Ok::<_, anyhow::Error>(connect_options(options, &events.name)?.event_callback(move |event| {
                events.take(&event);
                std::future::ready(())
            }))
        };
        let addresses = addresses(&options.url)?;
        let mut waits = false;
        let client = loop {
            let error = match runtime.block_on(connecting()?.connect(&addresses[..])) {
                Ok(client) => break client,
                Err(error) => error,
            };
            let is_away =
                matches!(error.kind(), ConnectErrorKind::Io | ConnectErrorKind::TimedOut | ConnectErrorKind::Dns);
            if !is_away || began.elapsed() >= patience || stop.load(Ordering::Relaxed) {
                bail!("server {shown}: {error}");
            }
            if !std::mem::replace(&mut waits, true) {
                note(format!("waiting for the server {shown}: {error}"));
            }
            std::thread::sleep(Duration::from_millis(300));
        };
        let most = client.server_info().max_payload;
        ensure!(
            most >= LEAST_PAYLOAD,
            "server {shown}: its max_payload is {most}, but messages of runs need up to {LEAST_PAYLOAD} bytes: raise it"
        );
        let within = runtime.enter(); // where the client starts a task of its own
        let mut js = jetstream::new(client.clone());
        js.set_timeout(ANSWER);
        drop(within);
        Ok(Self { runtime: Some(runtime), client, js, denials })
    }

    /// Waits for a future.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime().block_on(future)
    }

    /// Spawns a future, which runs until the link is dropped.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.runtime().spawn(future);
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is there until the link is dropped")
    }

    /// Whether the server keeps denying this client subjects of its own name.
    pub(crate) fn is_denied(&self) -> bool {
        self.denials.load(Ordering::Relaxed) >= MOST_DENIALS
    }
}

/// Handles the events of a connection.
struct Events<N> {
    note: Arc<N>,
    /// Name of the client.
    name: String,
    /// Whether it has not been connected yet.
    is_first: AtomicBool,
    denials: Arc<AtomicU32>,
    /// The server's errors, each of which is reported once.
    errors: Mutex<HashSet<String>>,
}

impl<N: Fn(String)> Events<N> {
    fn take(&self, event: &Event) {
        match event {
            Event::Connected if self.is_first.swap(false, Ordering::Relaxed) => {}
            Event::Connected => (self.note)("connected to the server again".into()),
            Event::Disconnected => (self.note)("the connection to the server is lost; trying again".into()),
            Event::ServerError(error) => {
                let error = error.to_string();
                self.denials.fetch_add(u32::from(denies_own(&error, &self.name)), Ordering::Relaxed);
                if lock(&self.errors).insert(error.clone()) {
                    (self.note)(format!("the server says: {error}"));
                }
            }
            _ => {}
        }
    }
}

/// Whether an error of the server says that a client may not use a subject of its own name.
fn denies_own(error: &str, name: &str) -> bool {
    let subject = error.split('"').nth(1);
    error.contains("Permissions Violation") && subject.is_some_and(|subject| is_of(subject, name))
}

impl Drop for Link {
    fn drop(&mut self) {
        // Sends what has been written to the connection.
        let flush = async { tokio::time::timeout(Duration::from_secs(1), self.client.flush()).await };
        let _ = self.wait(flush);
        // A task that still computes is abandoned: its result is no longer needed.
        self.runtime.take().into_iter().for_each(|runtime| runtime.shutdown_timeout(LAST_WAIT));
    }
}

/// Creates the streams that the server lacks.
pub(crate) async fn ensure_storage(js: &JetStream) -> Result<()> {
    let streams = [
        (WORK, ALL_WORK, RetentionPolicy::WorkQueue),
        (RESULTS, ALL_RESULTS, RetentionPolicy::WorkQueue),
        (JOBS, ALL_JOBS, RetentionPolicy::Limits),
    ];
    for (name, subject, retention) in streams {
        let stream = StreamConfig {
            name: name.to_owned(),
            subjects: vec![subject.to_owned()],
            retention,
            discard: DiscardPolicy::New,
            max_age: FORGOTTEN_AFTER,
            allow_direct: name == JOBS,
            ..StreamConfig::default()
        };
        let made = js.get_or_create_stream(stream).await;
        made.map_err(|error| anyhow!("{name}: {error} (JetStream must be on: `nats-server -js`)"))?;
    }
    Ok(())
}

/// Removes a run's ranges and results, and their consumers.
pub(crate) async fn remove_run(js: &JetStream, run: &str) {
    for (stream, subject) in [(WORK, work_subject(run)), (RESULTS, result_subject(run, "*"))] {
        if let Ok(stream) = js.get_stream(stream).await {
            let _ = stream.delete_consumer(run).await; // the server forgets all of it after some days anyway
            let _ = stream.purge().filter(subject).await;
        }
    }
}

/// Settings of the consumer of a run's ranges or results.
pub(crate) fn consumer(run: &str, filter: String, ack_wait: Duration, most: i64) -> pull::Config {
    pull::Config {
        durable_name: Some(run.to_owned()),
        filter_subject: filter,
        ack_policy: AckPolicy::Explicit,
        ack_wait,
        max_ack_pending: most,
        max_deliver: -1,
        inactive_threshold: FORGOTTEN_AFTER,
        ..pull::Config::default()
    }
}

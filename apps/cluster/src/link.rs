//! The connection to a server, and what is stored there. The rest of the crate sees a blocking interface in front of tokio
//! and the client of NATS.

use std::collections::HashSet;
use std::future::{Future, Ready, ready};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectErrorKind, Event, RequestErrorKind};
use tokio::runtime::{Handle, Runtime};
use turnstone_agents::search::Stop;

use crate::messages::{JOBS, LEADERS, RESULTS, WORK};
use crate::server::{ANSWER, ServerOptions, address, connect_options, shown};
use crate::wire::sha256;

/// Time after which the server drops what nobody uses.
pub(crate) const FORGOTTEN_AFTER: Duration = Duration::from_hours(72);
/// Time after which the key of a leader that does not renew it is gone.
pub(crate) const KEY_LASTS: Duration = Duration::from_secs(5);
/// Time that a leader waits for a server at its start.
pub(crate) const SERVER_PATIENCE: Duration = Duration::from_secs(10);
/// Oldest server that has everything: consumers that expire, and direct reading of a message.
const OLDEST_SERVER: [u32; 2] = [2, 9];
/// Smallest `max_payload` that a server must have: a long game is one message.
const LEAST_PAYLOAD: usize = 128 << 10;
/// Maximum length of a piece of work, if the server takes it, and room for the headers of a message.
const LONGEST_PIECE: usize = 512 << 10;
const HEADERS: usize = 4 << 10;

/// A line of the log of a leader or worker.
#[derive(Clone, Debug)]
pub enum Note {
    /// For information.
    Line(String),
    /// Something is wrong with a worker or the server.
    Warning(String),
}

/// Prints or records notes.
pub type TakeNote = Arc<dyn Fn(Note) + Send + Sync>;

/// A connection that restores itself after an interruption.
pub(crate) struct Link {
    runtime: Runtime,
    pub(crate) client: Client,
    pub(crate) js: Context,
    /// Set when the server denies the client a subject of its own name.
    pub(crate) denied: Arc<AtomicBool>,
}

impl Link {
    /// Connects under a name, which is part of the client's inbox. An unreachable server is tried again until `patience` is
    /// over or `stop` is raised.
    pub(crate) fn connect(
        options: &ServerOptions,
        name: &str,
        patience: Duration,
        stop: &Stop,
        note: &TakeNote,
    ) -> Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).thread_name("cluster").enable_all().build()?;
        let (shown, address) = (shown(&options.url), address(&options.url)?);
        let (denied, began, mut waits) = (Arc::<AtomicBool>::default(), Instant::now(), false);
        let client = loop {
            let connect = connect_options(options, name)?.event_callback(reporter(note, name, &denied));
            let error = match runtime.block_on(connect.connect(&address)) {
                Ok(client) => break client,
                Err(error) => error,
            };
            // A certificate that is not trusted comes as an error of input and output.
            let text = format!("{error:?}").to_lowercase();
            let is_away = !text.contains("certificate")
                && matches!(error.kind(), ConnectErrorKind::Io | ConnectErrorKind::TimedOut | ConnectErrorKind::Dns);
            if !is_away || began.elapsed() >= patience || stop.is_raised() {
                bail!("server {shown}: {error}{}", advice(error.kind(), &text));
            }
            if !std::mem::replace(&mut waits, true) {
                note(Note::Line(format!("waiting for the server {shown}: {error}")));
            }
            std::thread::sleep(Duration::from_millis(300));
        };
        let js = runtime.block_on(check(&client)).with_context(|| format!("server {shown}"))?;
        Ok(Self { runtime, client, js, denied })
    }

    /// Waits for a future.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// What spawns tasks, which run until the link is dropped.
    pub(crate) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Lets the last tasks write, and sends what has been written to the connection.
        self.wait(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let _ = tokio::time::timeout(Duration::from_secs(1), self.client.flush()).await;
        });
    }
}

/// Checks that the server can do what clusters need.
async fn check(client: &Client) -> Result<Context> {
    let (info, [major, minor]) = (client.server_info(), OLDEST_SERVER);
    let version: Vec<u32> = info.version.split('.').map_while(|part| part.parse().ok()).collect();
    let is_new = version[..] >= OLDEST_SERVER[..];
    ensure!(is_new, "it is nats-server {}: install {major}.{minor} or newer", info.version);
    let most = info.max_payload;
    ensure!(
        most >= LEAST_PAYLOAD,
        "its max_payload is {most}, but messages of runs need up to {LEAST_PAYLOAD} bytes: raise it"
    );
    let is_off = match client.request("$JS.API.INFO", "".into()).await {
        Ok(answer) => answer.payload.windows(7).any(|part| part == b"\"error\""),
        Err(error) => error.kind() == RequestErrorKind::NoResponders,
    };
    ensure!(!is_off, "JetStream is off, or not enabled for this account: start it with `nats-server -js`");
    let mut js = jetstream::new(client.clone());
    js.set_timeout(ANSWER);
    Ok(js)
}

/// What to do about a server that cannot be reached.
fn advice(kind: ConnectErrorKind, text: &str) -> &'static str {
    match kind {
        _ if text.contains("unknownissuer") => {
            ": its certificate is of an authority that is not trusted: give --ca FILE"
        }
        _ if text.contains("certificate") => ": its certificate is not accepted: see --ca, and the name in the address",
        ConnectErrorKind::AuthorizationViolation => {
            ": it knows no such user, password, token or key: see --user, --token-file, --nkey-file, --creds"
        }
        ConnectErrorKind::Authentication => ": see --nkey-file or --creds",
        _ => "",
    }
}

/// Reports the events of a connection, and the server's errors once each.
fn reporter(
    note: &TakeNote,
    name: &str,
    denied: &Arc<AtomicBool>,
) -> impl Fn(Event) -> Ready<()> + Send + Sync + 'static {
    let (note, name, denied) = (Arc::clone(note), name.to_owned(), Arc::clone(denied));
    let (is_first, said) = (AtomicBool::new(true), Mutex::new(HashSet::new()));
    move |event| {
        let line = match event {
            Event::Connected if is_first.swap(false, Ordering::Relaxed) => None,
            Event::Connected => Some("connected to the server again".to_owned()),
            Event::Disconnected => Some("the connection to the server is lost; trying again".to_owned()),
            Event::ServerError(error) => {
                let error = error.to_string();
                let is_own = error.split(['"', '.']).any(|part| part == name);
                denied.fetch_or(error.contains("Permissions Violation") && is_own, Ordering::Relaxed);
                lock(&said).insert(error.clone()).then(|| format!("the server says: {error}"))
            }
            _ => None,
        };
        line.into_iter().for_each(|line| note(Note::Line(line)));
        ready(())
    }
}

/// Creates the streams that the server lacks. (The client would create buckets itself, but not on servers before 2.10,
/// whose account it cannot read.)
pub(crate) async fn ensure_storage(js: &Context) -> Result<()> {
    let queue = |name: &str, subject: &str| Config {
        name: name.to_owned(),
        subjects: vec![subject.to_owned()],
        retention: RetentionPolicy::WorkQueue,
        discard: DiscardPolicy::New,
        max_age: FORGOTTEN_AFTER,
        ..Config::default()
    };
    let bucket = |name: &str, max_age| Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        allow_direct: true,
        max_age,
        duplicate_window: KEY_LASTS,
        ..Config::default()
    };
    let streams = [
        queue(JOBS, "turnstone.job.*"),
        queue(RESULTS, "turnstone.result.*.*"),
        bucket(WORK, FORGOTTEN_AFTER),
        bucket(LEADERS, KEY_LASTS),
    ];
    for stream in streams {
        let name = stream.name.clone();
        js.get_or_create_stream(stream).await.with_context(|| format!("stream {name}"))?;
    }
    Ok(())
}

/// Stores the work of a run in place of the one before, and returns the number of its pieces. They are values of a
/// key-value bucket, not an object: servers before 2.10 do not count the bytes of a removed object as free.
pub(crate) async fn put_work(js: &Context, run: &str, bytes: &[u8]) -> Result<usize> {
    let store = js.get_key_value(WORK).await?;
    let longest = js.client().max_payload().saturating_sub(HEADERS).clamp(1, LONGEST_PIECE);
    let mut pieces = 0;
    for piece in bytes.chunks(longest) {
        store.put(format!("{run}.{pieces}"), piece.to_vec().into()).await?;
        pieces += 1;
    }
    remove_work(js, run, pieces).await?;
    Ok(pieces)
}

/// Reads the work of a run. `None` if the server has another one, or a part of it.
pub(crate) async fn get_work(js: &Context, run: &str, pieces: usize, sum: &str) -> Result<Option<Vec<u8>>> {
    let store = js.get_key_value(WORK).await?;
    let mut bytes = Vec::new();
    for number in 0..pieces {
        let Some(piece) = store.get(format!("{run}.{number}")).await? else { return Ok(None) };
        bytes.extend_from_slice(&piece);
    }
    Ok((sha256(&bytes) == sum).then_some(bytes))
}

/// Removes the pieces of a run's work from this number on.
pub(crate) async fn remove_work(js: &Context, run: &str, mut pieces: usize) -> Result<()> {
    let store = js.get_key_value(WORK).await?;
    while remove_key(&store, &format!("{run}.{pieces}")).await? {
        pieces += 1;
    }
    Ok(())
}

/// Removes a key, without the marker that a deleted key leaves. Returns whether it was there.
pub(crate) async fn remove_key(store: &Store, key: &str) -> Result<bool> {
    let Some(entry) = store.entry(key).await? else { return Ok(false) };
    store.stream.delete_message(entry.revision).await?;
    Ok(true)
}

/// An error of the server, with what to do if it has no room.
pub(crate) fn refusal(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let is_full = ["insufficient", "maximum", "no space"].iter().any(|word| text.contains(word));
    let advice = if is_full { ": make room on its disk, or raise its limits" } else { "" };
    format!("{text}{advice}; trying again")
}

/// Locks a mutex, also after a thread has panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

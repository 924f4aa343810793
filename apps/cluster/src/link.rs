//! The connection to a server, and what is stored there. The rest of the crate sees a blocking interface in front of tokio
//! and the client of NATS.

use std::any::Any;
use std::collections::HashSet;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectErrorKind, Event, RequestErrorKind};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;

use crate::messages::{JOBS, LEADERS, RESULTS, WORK};
use crate::server::{ANSWER, ServerOptions, addresses, connect_options, shown};

/// Time after which the server drops what nobody uses.
pub(crate) const FORGOTTEN_AFTER: Duration = Duration::from_hours(72);
/// Time after which the key of a leader that does not renew it is gone.
pub(crate) const KEY_LASTS: Duration = Duration::from_secs(5);
/// Oldest server that has everything: consumers that expire, and direct reading of a message.
const OLDEST_SERVER: (u32, u32) = (2, 9);
/// Smallest `max_payload` that a server must have: a long game is one message.
const LEAST_PAYLOAD: usize = 128 << 10;
/// Maximum length of a piece of work, if the server takes it, and room for the headers of a message.
const LONGEST_PIECE: usize = 512 << 10;
const HEADERS: usize = 4 << 10;
/// Time that the end of a connection waits for its tasks.
const LAST_WAIT: Duration = Duration::from_millis(200);

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
    /// `None` once the link is being dropped.
    runtime: Option<Runtime>,
    pub(crate) client: Client,
    pub(crate) js: Context,
    /// Set when the server denies the client a subject of its own name.
    pub(crate) denied: Arc<AtomicBool>,
}

impl Link {
    /// Connects under a name, which is part of the client's inbox. An unreachable server is tried again until `patience` is
    /// over or `stop` is set.
    pub(crate) fn connect(
        options: &ServerOptions,
        name: &str,
        patience: Duration,
        stop: &AtomicBool,
        note: &TakeNote,
    ) -> Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).thread_name("cluster").enable_all().build()?;
        let (shown, addresses) = (shown(&options.url), addresses(&options.url)?);
        let (denied, began, mut waits) = (Arc::<AtomicBool>::default(), Instant::now(), false);
        let client = loop {
            let events = Events::new(note, name, &denied);
            let connect = connect_options(options, name)?.event_callback(move |event| {
                events.take(&event);
                std::future::ready(())
            });
            let error = match runtime.block_on(connect.connect(&addresses[..])) {
                Ok(client) => break client,
                Err(error) => error,
            };
            // A certificate that is not trusted comes as an error of input and output.
            let text = format!("{error:?}").to_lowercase();
            let is_away = !text.contains("certificate")
                && matches!(error.kind(), ConnectErrorKind::Io | ConnectErrorKind::TimedOut | ConnectErrorKind::Dns);
            if !is_away || began.elapsed() >= patience || stop.load(Ordering::Relaxed) {
                bail!("server {shown}: {error}{}", advice(error.kind(), &text));
            }
            if !std::mem::replace(&mut waits, true) {
                note(Note::Line(format!("waiting for the server {shown}: {error}")));
            }
            std::thread::sleep(Duration::from_millis(300));
        };
        let info = client.server_info();
        let mut parts = info.version.split('.').map(|part| part.parse().unwrap_or(0));
        let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        ensure!(
            version >= OLDEST_SERVER,
            "server {shown}: it is nats-server {}: install {}.{} or newer",
            info.version,
            OLDEST_SERVER.0,
            OLDEST_SERVER.1
        );
        ensure!(
            info.max_payload >= LEAST_PAYLOAD,
            "server {shown}: its max_payload is {}, but messages of runs need up to {LEAST_PAYLOAD} bytes: raise it",
            info.max_payload
        );
        let js = runtime.block_on(async {
            match client.request("$JS.API.INFO", "".into()).await {
                Err(error) if error.kind() == RequestErrorKind::NoResponders => Err("".to_owned()),
                Ok(answer) if answer.payload.windows(7).any(|part| part == b"\"error\"") => {
                    Err(format!(" for this account ({})", String::from_utf8_lossy(&answer.payload)))
                }
                _ => Ok(()),
            }
            .map_err(|why| anyhow!("server {shown}: JetStream is off{why}: start it with `nats-server -js`"))?;
            let mut js = jetstream::new(client.clone());
            js.set_timeout(ANSWER);
            Ok::<_, anyhow::Error>(js)
        })?;
        Ok(Self { runtime: Some(runtime), client, js, denied })
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
}

impl Drop for Link {
    fn drop(&mut self) {
        // Sends what has been written to the connection.
        let _ = self.wait(async { tokio::time::timeout(Duration::from_secs(1), self.client.flush()).await });
        self.runtime.take().into_iter().for_each(|runtime| runtime.shutdown_timeout(LAST_WAIT));
    }
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

/// Reports the events of a connection.
struct Events {
    note: TakeNote,
    /// Name of the client.
    name: String,
    /// Whether it has not been connected yet.
    is_first: AtomicBool,
    denied: Arc<AtomicBool>,
    /// The server's errors, each of which is reported once.
    errors: Mutex<HashSet<String>>,
}

impl Events {
    fn new(note: &TakeNote, name: &str, denied: &Arc<AtomicBool>) -> Self {
        let (note, denied) = (Arc::clone(note), Arc::clone(denied));
        Self { note, name: name.to_owned(), is_first: AtomicBool::new(true), denied, errors: Mutex::default() }
    }

    fn take(&self, event: &Event) {
        let line = match event {
            Event::Connected if self.is_first.swap(false, Ordering::Relaxed) => return,
            Event::Connected => "connected to the server again".to_owned(),
            Event::Disconnected => "the connection to the server is lost; trying again".to_owned(),
            Event::ServerError(error) => {
                let error = error.to_string();
                let is_own = error.split(['"', '.']).any(|part| part == self.name);
                self.denied.fetch_or(error.contains("Permissions Violation") && is_own, Ordering::Relaxed);
                if !lock(&self.errors).insert(error.clone()) {
                    return;
                }
                format!("the server says: {error}")
            }
            _ => return,
        };
        (self.note)(Note::Line(line));
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
    for (number, piece) in bytes.chunks(longest).enumerate() {
        store.put(format!("{run}.{number}"), piece.to_vec().into()).await?;
    }
    remove_pieces(&store, run, bytes.chunks(longest).len()).await?;
    Ok(bytes.chunks(longest).len())
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

/// Removes the pieces of a run's work from this number on. A message that is removed leaves no marker, as a deleted key
/// does.
pub(crate) async fn remove_pieces(store: &Store, run: &str, first: usize) -> Result<()> {
    for number in first.. {
        if !remove_key(store, &format!("{run}.{number}")).await? {
            break;
        }
    }
    Ok(())
}

/// Removes a key without a marker. Returns whether it was there.
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

/// SHA-256 as lower-case hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Locks a mutex, also after a thread has panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a reason")
}

//! The connection to a server, and what is stored there.

use std::collections::HashSet;
use std::future::{Future, Ready, ready};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectError, ConnectErrorKind, Event, RequestErrorKind};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use turnstone_agents::search::Stop;
use turnstone_base::terminal::Reporter;

use crate::messages::{JOBS, LEADERS, RESULTS, WORK, sha256};
use crate::server::{ANSWER, Credentials, address, connect_options};

/// Time after which the server drops what nobody uses.
pub(crate) const FORGOTTEN_AFTER: Duration = Duration::from_hours(72);
/// Time after which the key of a leader expires unless it is renewed.
pub(crate) const KEY_LASTS: Duration = Duration::from_secs(5);
/// Time that a leader waits for a server, and for the key of its run.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Smallest `max_payload` that a server must have: a long game is one message.
const LEAST_PAYLOAD: usize = 128 << 10;
/// Room for all of a message that is not its contents.
pub(crate) const BESIDES: usize = 8 << 10;
/// Number of messages that are under way at the same time.
pub(crate) const AT_ONCE: usize = 8;

/// A connection that restores itself after an interruption.
pub(crate) struct Link {
    runtime: Runtime,
    pub(crate) js: Context,
}

impl Link {
    /// Connects under a name, which is part of the client's inbox. An unreachable server is tried again until `patience` is
    /// over or `stop` is set.
    pub(crate) fn connect(
        url: &str,
        credentials: &Credentials,
        name: &str,
        patience: Duration,
        stop: &Stop,
        reporter: &Arc<Reporter>,
    ) -> Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).thread_name("cluster").enable_all().build()?;
        let (address, began, mut waits) = (address(url)?, Instant::now(), false);
        let client = loop {
            let connect = connect_options(url, credentials, name)?.event_callback(events(reporter));
            let error = match runtime.block_on(connect.connect(&address)) {
                Ok(client) => break client,
                Err(error) => error,
            };
            let advice = advice(&error);
            if advice.is_some() || began.elapsed() >= patience || stop.is_raised() {
                bail!("server {url}: {error}{}", advice.unwrap_or_default());
            }
            if !std::mem::replace(&mut waits, true) {
                reporter.line(&format!("waiting for the server {url}: {error}"));
            }
            std::thread::sleep(Duration::from_millis(300));
        };
        let js = runtime.block_on(check(&client)).with_context(|| format!("server {url}"))?;
        Ok(Self { runtime, js })
    }

    /// Waits for a future.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Runs a future beside others, until it is aborted or the link is dropped.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.runtime.spawn(future)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Lets the last tasks write, and sends what has been written to the connection.
        self.wait(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let _ = tokio::time::timeout(Duration::from_secs(1), self.js.client().flush()).await;
        });
    }
}

/// Checks that the server can do what clusters need.
async fn check(client: &Client) -> Result<Context> {
    let (info, least) = (client.server_info(), LEAST_PAYLOAD);
    // Consumers that expire, and direct reading of a message.
    ensure!(client.is_server_compatible(2, 9, 0), "it is nats-server {}: install 2.9 or newer", info.version);
    let most = info.max_payload;
    ensure!(most >= least, "its max_payload is {most}, but messages of runs need up to {least} bytes: raise it");
    let is_off = match client.request("$JS.API.INFO", "".into()).await {
        Ok(answer) => answer.payload.windows(7).any(|part| part == b"\"error\""),
        Err(error) => error.kind() == RequestErrorKind::NoResponders,
    };
    ensure!(!is_off, "JetStream is off, or not enabled for this account: start it with `nats-server -js`");
    let mut js = jetstream::new(client.clone());
    js.set_timeout(ANSWER);
    Ok(js)
}

/// What to do about an error, unless the server is away for a while.
fn advice(error: &ConnectError) -> Option<&'static str> {
    // A certificate that is not trusted comes as an error of input and output.
    let text = format!("{error:?}").to_lowercase();
    Some(match error.kind() {
        _ if text.contains("unknownissuer") => {
            ": its certificate is of an authority that is not trusted: give --ca FILE"
        }
        _ if text.contains("certificate") => ": its certificate is not accepted: see --ca, and the name in the address",
        ConnectErrorKind::Io | ConnectErrorKind::TimedOut | ConnectErrorKind::Dns => return None,
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            ": it knows no such user, password, token or key: see --user, --token-file, --nkey-file, --creds"
        }
        _ => "",
    })
}

/// Reports the events of a connection, and the server's errors once each.
fn events(reporter: &Arc<Reporter>) -> impl Fn(Event) -> Ready<()> + Send + Sync + 'static {
    let (reporter, said) = (Arc::clone(reporter), Mutex::new(HashSet::new()));
    move |event| {
        match event {
            Event::Connected if !lock(&said).insert("connected".to_owned()) => {
                reporter.line("connected to the server again");
            }
            Event::Disconnected => reporter.line("the connection to the server is lost; trying again"),
            Event::ServerError(error) if lock(&said).insert(error.to_string()) => {
                let is_denied = error.to_string().contains("Permissions Violation");
                let advice = ": give the --name that the user's permissions are for, or extend them";
                reporter.warning(&format!("the server says: {error}{}", if is_denied { advice } else { "" }));
            }
            _ => {}
        }
        ready(())
    }
}

/// Creates the streams that the server lacks. (The client would create buckets itself, but not on servers before 2.10,
/// whose account it cannot read.)
pub(crate) async fn ensure_storage(js: &Context) -> Result<()> {
    for (name, subject, retention, max_age, max_messages_per_subject) in [
        (JOBS, "turnstone.job.*", RetentionPolicy::WorkQueue, FORGOTTEN_AFTER, -1),
        (RESULTS, "turnstone.result.*.*", RetentionPolicy::Limits, FORGOTTEN_AFTER, -1),
        (&format!("KV_{WORK}"), &format!("$KV.{WORK}.>"), RetentionPolicy::Limits, FORGOTTEN_AFTER, 1),
        (&format!("KV_{LEADERS}"), &format!("$KV.{LEADERS}.>"), RetentionPolicy::Limits, KEY_LASTS, 1),
    ] {
        let stream = Config {
            name: name.to_owned(),
            subjects: vec![subject.to_owned()],
            retention,
            max_age,
            max_messages_per_subject,
            discard: DiscardPolicy::New,
            allow_rollup: true,
            allow_direct: true,
            duplicate_window: KEY_LASTS,
            ..Config::default()
        };
        js.get_or_create_stream(stream).await.with_context(|| format!("stream {name}"))?;
    }
    Ok(())
}

/// Stores the work of a run, replacing the one before, and returns the number of its pieces. They are values of a
/// key-value bucket, not an object: servers before 2.10 do not count the bytes of a removed object as free.
pub(crate) async fn put_work(js: &Context, run: &str, bytes: &[u8]) -> Result<usize> {
    let store = &js.get_key_value(WORK).await?;
    let pieces = bytes.chunks(LEAST_PAYLOAD - BESIDES).enumerate();
    let put = pieces.map(|(number, piece)| store.put(format!("{run}.{number}"), piece.to_vec().into()));
    let stored: Vec<u64> = stream::iter(put).buffered(AT_ONCE).try_collect().await?;
    Ok(stored.len())
}

/// Reads the work of a run. `None` if the server has another one, or a part of it.
pub(crate) async fn get_work(js: &Context, run: &str, pieces: usize, sum: &str) -> Result<Option<Vec<u8>>> {
    let store = &js.get_key_value(WORK).await?;
    let get = (0..pieces).map(|number| store.get(format!("{run}.{number}")));
    let pieces: Vec<_> = stream::iter(get).buffered(AT_ONCE).try_collect().await?;
    let bytes = pieces.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default().concat();
    Ok((sha256(&bytes) == sum).then_some(bytes))
}

/// Removes the work of a run.
pub(crate) async fn remove_work(js: &Context, run: &str) -> Result<()> {
    let store = js.get_key_value(WORK).await?;
    for number in 0.. {
        if !remove_key(&store, &format!("{run}.{number}")).await? {
            break;
        }
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

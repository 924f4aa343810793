//! The connection to a server: its address, how to prove who one is, and what is kept there. Other files of the crate see
//! a blocking interface; tokio and the client of NATS stay behind it.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{Config as StreamConfig, DiscardPolicy, RetentionPolicy};
use async_nats::jetstream::{self, Context as JetStream};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event};
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;
use turnstone_models::read_text;

use crate::identity::checksum;
use crate::names::{ALL_RESULTS, ALL_WORK, OBJECTS, RESULTS, WORK};
use crate::wire::hex;

/// Time after which the server forgets what no one has asked for.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(72);
/// Longest wait for an answer of the server.
pub(crate) const ANSWER: Duration = Duration::from_secs(5);

/// Server and credentials.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// Address, such as `nats://host:4222` or `tls://user:password@host`; several separated by commas.
    pub url: String,
    /// User name.
    pub user: Option<String>,
    /// File with the password.
    pub password_file: Option<PathBuf>,
    /// File with a token.
    pub token_file: Option<PathBuf>,
    /// File with the seed of an NKEY.
    pub nkey_file: Option<PathBuf>,
    /// File with a JWT and the seed of its NKEY.
    pub credentials: Option<PathBuf>,
    /// File with certificates of authorities to trust, in PEM.
    pub ca: Option<PathBuf>,
    /// Files with a client's certificate and its key, in PEM.
    pub certificate: Option<[PathBuf; 2]>,
}

/// A connection, which restores itself after an interruption.
pub(crate) struct Link {
    runtime: Runtime,
    pub(crate) client: Client,
    pub(crate) js: JetStream,
}

impl Link {
    /// Connects. `name` is the client's name on the server and part of its inbox; `note` is called with what happens to
    /// the connection. A server that cannot be reached is tried again for as long as `patience` allows and `stop` is not
    /// set.
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
        let connecting = || {
            let (note, is_first) = (Arc::clone(&note), AtomicBool::new(true));
            Ok::<_, anyhow::Error>(connect_options(options, name)?.event_callback(move |event| {
                match event {
                    Event::Connected if is_first.swap(false, Ordering::Relaxed) => {}
                    Event::Connected => note("connected to the server again".into()),
                    Event::Disconnected => note("the connection to the server is lost; trying again".into()),
                    Event::ServerError(error) => note(format!("the server says: {error}")),
                    _ => {}
                }
                std::future::ready(())
            }))
        };
        let urls: Vec<&str> = options.url.split(',').map(str::trim).collect();
        let addresses = urls.iter().map(|url| url.parse()).collect::<Result<Vec<async_nats::ServerAddr>, _>>();
        let addresses = addresses.with_context(|| format!("server {shown}"))?;
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
        let within = runtime.enter(); // where the client starts a task of its own
        let mut js = jetstream::new(client.clone());
        js.set_timeout(ANSWER);
        drop(within);
        Ok(Self { runtime, client, js })
    }

    /// Waits for a future.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Runs a future beside the caller, until the link is dropped.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(future);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // What has been written to the connection is sent, if the server takes it.
        let flush = async { tokio::time::timeout(Duration::from_secs(1), self.client.flush()).await };
        let _ = self.runtime.block_on(flush);
    }
}

fn connect_options(options: &ServerOptions, name: &str) -> Result<ConnectOptions> {
    let secret = |path: &PathBuf| -> Result<String> {
        let text = read_text(path, 64 << 10).with_context(|| path.display().to_string())?;
        Ok(text.trim().to_owned())
    };
    let mut connect = ConnectOptions::new()
        .name(format!("turnstone {name}"))
        .custom_inbox_prefix(format!("_INBOX.{name}"))
        .ping_interval(Duration::from_secs(5))
        .request_timeout(Some(ANSWER))
        .connection_timeout(ANSWER)
        .reconnect_delay_callback(|attempts| Duration::from_millis((100 << attempts.min(5)).min(2000)))
        .max_reconnects(None);
    let ways = [
        options.user.is_some(),
        options.token_file.is_some(),
        options.nkey_file.is_some(),
        options.credentials.is_some(),
    ];
    ensure!(ways.iter().filter(|way| **way).count() <= 1, "give one of --user, --token-file, --nkey-file and --creds");
    if let Some(user) = &options.user {
        let Some(file) = &options.password_file else { bail!("--user needs --password-file") };
        connect = connect.user_and_password(user.clone(), secret(file)?);
    }
    if let Some(file) = &options.token_file {
        connect = connect.token(secret(file)?);
    }
    if let Some(file) = &options.nkey_file {
        let text = secret(file)?;
        // The file may be one that `nsc` writes, with comments around the seed.
        let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
        connect = connect.nkey(seed.with_context(|| format!("{}: no seed of a user", file.display()))?.to_owned());
    }
    if let Some(file) = &options.credentials {
        connect = connect.credentials(&secret(file)?).with_context(|| file.display().to_string())?;
    }
    if let Some(ca) = &options.ca {
        ensure!(ca.is_file(), "{}: no such file", ca.display());
        connect = connect.add_root_certificates(ca.clone()).require_tls(true);
    }
    if let Some([certificate, key]) = &options.certificate {
        connect = connect.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
    }
    Ok(connect)
}

/// An address without the password in it.
#[must_use]
pub fn shown(url: &str) -> String {
    let one = |url: &str| match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        _ => url.to_owned(),
    };
    url.split(',').map(|url| one(url.trim())).collect::<Vec<_>>().join(",")
}

/// Makes the streams and the object store of the server if they are missing.
pub(crate) async fn ensure_storage(js: &JetStream) -> Result<()> {
    let stream = |name: &str, subject: &str| StreamConfig {
        name: name.to_owned(),
        subjects: vec![subject.to_owned()],
        retention: RetentionPolicy::WorkQueue,
        discard: DiscardPolicy::New,
        max_age: FORGOTTEN_AFTER,
        ..StreamConfig::default()
    };
    for (name, subject) in [(WORK, ALL_WORK), (RESULTS, ALL_RESULTS)] {
        js.get_or_create_stream(stream(name, subject)).await.map_err(|error| storage_fault(name, &error))?;
    }
    objects(js).await.map(drop)
}

fn storage_fault(name: &str, error: &dyn std::fmt::Display) -> anyhow::Error {
    anyhow!("{name}: {error} (JetStream must be on: `nats-server -js`)")
}

async fn objects(js: &JetStream) -> Result<ObjectStore> {
    if let Ok(store) = js.get_object_store(OBJECTS).await {
        return Ok(store);
    }
    let config =
        jetstream::object_store::Config { bucket: OBJECTS.to_owned(), max_age: FORGOTTEN_AFTER, ..Default::default() };
    js.create_object_store(config).await.map_err(|error| storage_fault(OBJECTS, &error))
}

/// Stores an object under its checksum, unless it is there.
pub(crate) async fn put_object(js: &JetStream, bytes: &[u8]) -> Result<()> {
    let (store, name) = (objects(js).await?, hex(&checksum(bytes)));
    if store.info(&name).await.is_ok_and(|info| !info.deleted && info.size == bytes.len()) {
        return Ok(());
    }
    store.put(name.as_str(), &mut &bytes[..]).await.context("storing a job")?;
    Ok(())
}

/// Reads an object and checks that it is what its name says.
pub(crate) async fn get_object(js: &JetStream, sum: &[u8; 32], most: usize) -> Result<Vec<u8>> {
    let name = hex(sum);
    let store = js.get_object_store(OBJECTS).await?;
    let object = store.get(&name).await.context("fetching a job")?;
    let size = object.info().size;
    ensure!(size <= most, "job {name} has {size} bytes, more than {most}");
    let mut bytes = Vec::new();
    tokio::time::timeout(Duration::from_secs(120), object.take(most as u64 + 1).read_to_end(&mut bytes))
        .await
        .context("fetching a job takes too long")??;
    ensure!(checksum(&bytes) == *sum, "job {name} is not what its name says: it is damaged or forged");
    Ok(bytes)
}

/// Removes an object.
pub(crate) async fn remove_object(js: &JetStream, sum: &[u8; 32]) {
    if let Ok(store) = js.get_object_store(OBJECTS).await {
        let _ = store.delete(hex(sum)).await; // it is forgotten after some days anyway
    }
}

/// The consumer of a run's ranges or results.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(shown("nats://me:secret@host:4222"), "nats://host:4222");
        assert_eq!(shown("tls://a:b@c, nats://d:4222"), "tls://c,nats://d:4222");
        assert_eq!(shown("token@host"), "host");
    }

    #[test]
    fn credentials_are_given_in_one_way() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("secret");
        std::fs::write(&file, "s3cret\n").expect("writable");
        let plain = ServerOptions { url: "nats://localhost".into(), ..ServerOptions::default() };
        let fault = |options: ServerOptions| connect_options(&options, "w").map(drop).expect_err("a fault").to_string();
        assert!(connect_options(&plain, "w").is_ok());
        assert!(fault(ServerOptions { user: Some("me".into()), ..plain.clone() }).contains("--password-file"));
        let user = ServerOptions { user: Some("me".into()), password_file: Some(file.clone()), ..plain.clone() };
        assert!(connect_options(&user, "w").is_ok());
        assert!(fault(ServerOptions { token_file: Some(file.clone()), ..user }).contains("one of"));
        assert!(fault(ServerOptions { nkey_file: Some(file.clone()), ..plain.clone() }).contains("no seed"));
        let missing = Some(folder.path().join("none"));
        assert!(fault(ServerOptions { ca: missing.clone(), ..plain.clone() }).contains("no such file"));
        assert!(fault(ServerOptions { token_file: missing, ..plain }).contains("none"));
    }
}

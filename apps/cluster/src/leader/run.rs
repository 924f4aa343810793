//! What runs beside a leader: the key of its run, which it renews every second with the run's status, and the receiver of
//! results.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::kv::{CreateErrorKind, UpdateErrorKind};
use async_nats::jetstream::{Context, Message};
use data_encoding::HEXLOWER;
use futures_util::StreamExt;
use tokio::sync::mpsc;
use turnstone_base::files::{atomic_write, read_text};

use super::AT_ONCE;
use crate::link::{KEY_LASTS, Note, TakeNote, lock};
use crate::messages::{LEADERS, RESULTS, is_name};
use crate::status::RunStatus;

/// What a leader shares with its tasks.
pub(crate) struct Shared {
    pub(super) run: String,
    folder: Option<PathBuf>,
    pub(crate) status: Mutex<RunStatus>,
    /// Whether another leader has the key.
    pub(super) is_lost: AtomicBool,
    /// Whether the key is no longer needed.
    pub(super) is_over: AtomicBool,
}

impl Shared {
    pub(super) fn new(run: &str, game: &str, folder: Option<PathBuf>) -> Self {
        let leader = HEXLOWER.encode(&rand::random::<[u8; 6]>());
        let status = RunStatus { leader, game: game.to_owned(), ..RunStatus::default() };
        let (is_lost, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { run: run.to_owned(), folder, status: Mutex::new(status), is_lost, is_over }
    }

    fn value(&self) -> Vec<u8> {
        serde_json::to_vec(&*lock(&self.status)).expect("plain fields")
    }
}

/// The name of the run in a folder; a folder without a name gets one.
pub(super) fn run_name(folder: Option<&Path>, game: &str) -> Result<String> {
    let path = folder.map(|folder| folder.join("run"));
    if let Some(path) = path.as_ref().filter(|path| path.exists()) {
        let name = read_text(path, 1000).with_context(|| path.display().to_string())?;
        if is_name(name.trim()) {
            return Ok(name.trim().to_owned());
        }
    }
    let game: String = game.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    let name = format!("{game}-{}", HEXLOWER.encode(&rand::random::<[u8; 4]>()));
    if let (Some(folder), Some(path)) = (folder, path) {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        atomic_write(&path, name.as_bytes()).with_context(|| path.display().to_string())?;
    }
    Ok(name)
}

/// Takes the key of a run, which lasts a while after its leader is killed. Returns its revision.
pub(super) async fn take_key(js: &Context, shared: &Shared, stop: &AtomicBool, note: &TakeNote) -> Result<u64> {
    let (store, run, began) = (js.get_key_value(LEADERS).await?, &shared.run, Instant::now());
    let mut said = false;
    loop {
        match store.create(run, shared.value().into()).await {
            Ok(revision) => return Ok(revision),
            Err(error) if error.kind() != CreateErrorKind::AlreadyExists => {
                return Err(error).context("the key of the run");
            }
            Err(_) if began.elapsed() > KEY_LASTS + Duration::from_secs(2) || stop.load(Ordering::Relaxed) => bail!(
                "another leader is at work on run {run} (a copy of a run gets a name of its own when its folder `cluster` is \
                 removed)"
            ),
            Err(_) => {}
        }
        if !std::mem::replace(&mut said, true) {
            note(Note::Line(format!(
                "an earlier leader of {run} may be at work: waiting {} seconds",
                KEY_LASTS.as_secs()
            )));
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Renews the key every second. If it has expired, as when the server lost its store, it is taken again.
pub(super) async fn keep_key(js: Context, shared: std::sync::Arc<Shared>, mut revision: u64) {
    while !shared.is_over.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if let Some(folder) = &shared.folder {
            let _ = atomic_write(&folder.join("status.json"), &shared.value()); // for the run's page only
        }
        let Ok(store) = js.get_key_value(LEADERS).await else { continue };
        match store.update(&shared.run, shared.value().into(), revision).await {
            Ok(next) => revision = next,
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {
                match store.create(&shared.run, shared.value().into()).await {
                    Ok(next) => revision = next,
                    Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {
                        // It may be the last renewal of this leader, whose answer was lost.
                        let Ok(Some(entry)) = store.entry(&shared.run).await else { continue };
                        let status: Option<RunStatus> = serde_json::from_slice(&entry.value).ok();
                        if status.is_some_and(|status| status.leader == lock(&shared.status).leader) {
                            revision = entry.revision;
                        } else {
                            shared.is_lost.store(true, Ordering::Relaxed);
                        }
                    }
                    Err(_) => {}
                }
            }
            Err(_) => {} // the server is away
        }
    }
}

/// Receives the results of the run.
pub(super) async fn receive(js: Context, run: String, sender: mpsc::Sender<Message>) {
    loop {
        let found: Result<Consumer<pull::Config>, _> = js.get_consumer_from_stream(&run, RESULTS).await;
        if let Ok(consumer) = found {
            let stream = consumer.stream().max_messages_per_batch(AT_ONCE).expires(Duration::from_secs(10));
            if let Ok(mut messages) = stream.heartbeat(Duration::from_secs(2)).messages().await {
                while let Some(Ok(message)) = messages.next().await {
                    if sender.send(message).await.is_err() {
                        return;
                    }
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_keeps_its_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let within = folder.path().join("cluster");
        let name = run_name(Some(&within), "mu_torere").expect("a new name");
        assert!(name.starts_with("mutorere-") && is_name(&name), "{name}");
        assert_eq!(run_name(Some(&within), "mu_torere").expect("the same"), name);
        std::fs::write(within.join("run"), "a b").expect("writable");
        assert!(is_name(&run_name(Some(&within), "mu_torere").expect("a new name")));
        assert!(is_name(&run_name(None, &"g".repeat(1000)).expect("a new name")));
    }
}

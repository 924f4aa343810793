//! The key of a run: only its leader has it, renews it every second, and writes the run's status there.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use async_nats::jetstream::Context;
use data_encoding::HEXLOWER;
use turnstone_agents::search::Stop;
use turnstone_arena::RunStatus;
use turnstone_base::files::{atomic_write, read_text};
use turnstone_base::terminal::Reporter;

use crate::link::{PATIENCE, ensure_storage, lock, remove_key};
use crate::messages::{LEADERS, is_name};

/// The key of a run.
pub(super) struct Key {
    run: String,
    folder: Option<PathBuf>,
    pub(super) status: Mutex<RunStatus>,
    /// Whether another leader has it.
    pub(super) is_lost: AtomicBool,
}

impl Key {
    pub(super) fn new(run: &str, game: &str, folder: Option<PathBuf>) -> Self {
        let leader = HEXLOWER.encode(&rand::random::<[u8; 6]>());
        let status = RunStatus { leader, game: game.to_owned(), ..RunStatus::default() };
        Self { run: run.to_owned(), folder, status: Mutex::new(status), is_lost: AtomicBool::new(false) }
    }

    /// Creates or renews the key, and the streams that the server lacks. Returns false if another leader has the key.
    async fn hold(&self, js: &Context) -> Result<bool> {
        ensure_storage(js).await?;
        let store = js.get_key_value(LEADERS).await?;
        let (value, leader) = {
            let status = lock(&self.status);
            (serde_json::to_vec(&*status)?, status.leader.clone())
        };
        if let Some(folder) = &self.folder {
            let _ = atomic_write(&folder.join("status.json"), &value); // for the run's page only
        }
        match store.entry(&self.run).await? {
            None => store.create(&self.run, value.into()).await?,
            Some(entry) if serde_json::from_slice::<RunStatus>(&entry.value)?.leader == leader => {
                store.update(&self.run, value.into(), entry.revision).await?
            }
            Some(_) => return Ok(false),
        };
        Ok(true)
    }
}

/// Takes the key of a run, which lasts a while after its leader was killed. A server that has just been started may not have
/// read its store yet.
pub(super) async fn take(js: &Context, key: &Key, stop: &Stop, reporter: &Reporter) -> Result<()> {
    let (run, began, mut said) = (&key.run, Instant::now(), false);
    loop {
        let held = key.hold(js).await;
        let is_late = began.elapsed() > PATIENCE || stop.is_raised();
        match held {
            Ok(true) => return Ok(()),
            Err(error) if is_late => return Err(error).context("the key of the run"),
            Ok(false) if is_late => bail!(
                "another leader is at work on run {run} (a copy of a run gets a name of its own when its folder `cluster` is \
                 removed)"
            ),
            Ok(false) if !std::mem::replace(&mut said, true) => {
                reporter.line(&format!("an earlier leader of {run} may be at work: waiting for its key to expire"));
            }
            _ => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

/// Renews the key every second.
pub(super) async fn keep(js: Context, key: Arc<Key>) {
    loop {
        // Without an answer, the server is away.
        key.is_lost.fetch_or(key.hold(&js).await.is_ok_and(|holds| !holds), Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Gives the key back.
pub(super) async fn release(js: &Context, key: &Key) {
    if !key.is_lost.load(Ordering::Relaxed)
        && let Ok(store) = js.get_key_value(LEADERS).await
    {
        let _ = remove_key(&store, &key.run).await;
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

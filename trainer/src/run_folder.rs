//! A run's folder: where its files lie, and reading and writing them so that a crash at any moment loses at most the
//! iteration in progress. See `runs/README.md`.

mod thinning;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use turnstone_models::{CheckpointInfo, LearnerState, Weights, atomic_write};

use crate::config::RunConfig;
use turnstone_models::{FolderLock, LOCK_FILE};
use turnstone_selfplay::replay::{GameId, Shard, ShardError, Window};

/// The files of a run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Held by the process that trains in it.
    lock: Option<FolderLock>,
}

/// Where a run stands at the end of an iteration, besides the learner's own state.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// Iterations finished.
    pub iteration: u64,
    /// Games of self-play so far.
    pub games: u64,
    /// Positions of self-play so far.
    pub positions: u64,
    /// The first iteration whose positions are in the replay window.
    pub window_from: u64,
    /// Score of the best checkpoint in its arena matches: on the ladder if it is climbed, else a mean over the opponents.
    pub best_score: Option<f64>,
    /// Steps of the learner at which the best checkpoint stood.
    #[serde(default)]
    pub best_step: Option<u64>,
    /// Iterations whose positions were left out of the window, because their shards were damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<u64>,
}

impl RunFolder {
    /// A new folder with the text of the run's config in it, taken for this process.
    ///
    /// # Errors
    /// The folder holds something already, is in use, or cannot be written. With `overwrite` a run in it is removed
    /// first, but only if it is one.
    pub fn create(path: &Path, config: &str, overwrite: bool) -> Result<Self> {
        let named = || format!("run folder {}", path.display());
        let mut folder = Self { path: path.to_owned(), lock: None };
        if folder.is_occupied().with_context(named)? {
            if !overwrite {
                bail!("{} exists already: give --resume to go on with it or --overwrite to start anew", named());
            }
            if !folder.config().is_file() {
                bail!("{} holds no run, so it is not overwritten", path.display());
            }
        }
        fs::create_dir_all(path).with_context(named)?;
        folder.lock = Some(FolderLock::take(path)?);
        folder.clear().with_context(|| format!("removing the old run {}", path.display()))?;
        folder.write(&folder.config(), config.as_bytes())?;
        Ok(folder)
    }

    /// A folder that holds a run.
    ///
    /// # Errors
    /// It does not.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = Self { path: path.to_owned(), lock: None };
        if !folder.config().is_file() {
            bail!("{} holds no run", path.display());
        }
        Ok(folder)
    }

    /// A folder that holds a run, taken for this process to go on with it. What an interrupted write has left is gone.
    ///
    /// # Errors
    /// It holds none, or another process is training in it.
    pub fn open_to_train(path: &Path) -> Result<Self> {
        let mut folder = Self::open(path)?;
        folder.lock = Some(FolderLock::take(path)?);
        for part in [folder.path.clone(), folder.replay(), folder.checkpoints()] {
            for entry in entries(&part).with_context(|| part.display().to_string())? {
                if is_unfinished(&entry) {
                    fs::remove_file(&entry).with_context(|| entry.display().to_string())?;
                }
            }
        }
        Ok(folder)
    }

    /// Makes the folders within.
    ///
    /// # Errors
    /// They cannot be made.
    pub fn create_dirs(&self) -> Result<()> {
        [self.replay(), self.checkpoints()]
            .iter()
            .try_for_each(|part| fs::create_dir_all(part).with_context(|| part.display().to_string()))
    }

    /// Confirms that the folder still is the one that this process has taken.
    ///
    /// # Errors
    /// It was removed or replaced meanwhile.
    pub fn confirm(&self) -> Result<()> {
        if self.lock.as_ref().is_some_and(|lock| !lock.holds()) {
            bail!("run folder {} was removed or replaced while the run was going on", self.path.display());
        }
        Ok(())
    }

    /// Whether there is more in the folder than a start that was interrupted at once leaves.
    fn is_occupied(&self) -> std::io::Result<bool> {
        Ok(entries(&self.path)?.iter().any(|entry| !entry.ends_with(LOCK_FILE) && !is_unfinished(entry)))
    }

    /// Removes everything but the lock; the config last, so that until then it is seen to be a run.
    fn clear(&self) -> std::io::Result<()> {
        let (lock, config) = (self.path.join(LOCK_FILE), self.config());
        for entry in entries(&self.path)?.iter().filter(|entry| ![&lock, &config].contains(entry)) {
            if entry.is_dir() && !entry.is_symlink() { fs::remove_dir_all(entry) } else { fs::remove_file(entry) }?;
        }
        if config.exists() { fs::remove_file(config) } else { Ok(()) }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run's config.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// The learner's state and the run's standing at the end of the last finished iteration.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.path.join("state.safetensors")
    }

    /// The newest checkpoint.
    #[must_use]
    pub fn latest(&self) -> PathBuf {
        self.path.join("latest.safetensors")
    }

    /// The checkpoint with the best arena score.
    #[must_use]
    pub fn best(&self) -> PathBuf {
        self.path.join("best.safetensors")
    }

    /// One JSON object per iteration.
    #[must_use]
    pub fn metrics(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    /// TensorBoard's event files.
    #[must_use]
    pub fn tensorboard(&self) -> PathBuf {
        self.path.join("tensorboard")
    }

    fn replay(&self) -> PathBuf {
        self.path.join("replay")
    }

    fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    fn numbered(&self, step: u64) -> PathBuf {
        self.checkpoints().join(format!("step_{step:08}.safetensors"))
    }

    fn shard(&self, iteration: u64) -> PathBuf {
        self.replay().join(format!("{iteration:06}.shard"))
    }

    /// Writes a numbered checkpoint.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save_numbered(&self, info: &CheckpointInfo, weights: &Weights) -> Result<()> {
        Ok(turnstone_models::save(&self.numbered(info.step), info, weights)?)
    }

    /// Removes numbered checkpoints up to this step that the rule of `run.keep_checkpoints` does not keep.
    ///
    /// # Errors
    /// The folder cannot be read or a file not be removed.
    pub fn thin_checkpoints(&self, step: u64, config: &RunConfig) -> Result<()> {
        let folder = self.checkpoints();
        let number = |path: &PathBuf| {
            let number: u64 =
                path.file_name()?.to_str()?.strip_prefix("step_")?.strip_suffix(".safetensors")?.parse().ok()?;
            (*path == self.numbered(number) && number <= step).then_some(number)
        };
        let steps: Vec<u64> =
            entries(&folder).with_context(|| folder.display().to_string())?.iter().filter_map(number).collect();
        for step in thinning::unwanted(&steps, config.keep_checkpoints, config.checkpoint_steps) {
            let path = self.numbered(step);
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// Writes the learner's state and the run's standing. Everything else of the iteration has to be there before:
    /// this is what makes it count.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save_state(&self, state: &LearnerState, standing: &Standing) -> Result<()> {
        let standing = serde_json::to_string(standing)?;
        Ok(turnstone_models::save_state(&self.state(), state, &standing)?)
    }

    /// Reads what [`RunFolder::save_state`] wrote.
    ///
    /// # Errors
    /// The file is missing or damaged.
    pub fn load_state(&self) -> Result<(LearnerState, Standing)> {
        let (state, standing) = turnstone_models::load_state(&self.state())?;
        let standing = serde_json::from_str(&standing)
            .with_context(|| format!("{}: the run's standing in it", self.state().display()))?;
        Ok((state, standing))
    }

    /// Whether the run was interrupted before anything of it was written but its config.
    #[must_use]
    pub fn is_unstarted(&self) -> bool {
        !self.state().exists() && !self.metrics().exists() && !self.latest().exists()
    }

    /// Writes an iteration's positions.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_shard(&self, shard: &Shard, game: &GameId) -> Result<()> {
        self.write(&self.shard(shard.iteration), &shard.to_bytes(game))
    }

    /// Reads the replay window as it stood, and what is wrong with shards that cannot be read, with their iterations.
    #[must_use]
    pub fn load_window(&self, standing: &Standing, game: &GameId, features: usize) -> (Window, Vec<(u64, ShardError)>) {
        let (mut window, mut faults) = (Window::default(), Vec::new());
        let iterations = standing.window_from.max(1)..=standing.iteration;
        for iteration in iterations.filter(|iteration| !standing.left_out.contains(iteration)) {
            match Shard::read(&self.shard(iteration), game, iteration, features) {
                Ok(shard) => window.push(Arc::new(shard), usize::MAX),
                Err(fault) => faults.push((iteration, fault)),
            }
        }
        (window, faults)
    }

    /// Removes shards of iterations that were undone.
    ///
    /// # Errors
    /// The folder cannot be read or a file not be removed.
    pub fn remove_shards_after(&self, last: u64) -> Result<()> {
        self.remove_shards(|iteration| iteration > last)
    }

    /// Removes shards that no window needs any more.
    ///
    /// # Errors
    /// The folder cannot be read or a file not be removed.
    pub fn remove_shards_before(&self, first: u64) -> Result<()> {
        self.remove_shards(|iteration| iteration < first)
    }

    fn remove_shards(&self, unwanted: impl Fn(u64) -> bool) -> Result<()> {
        let folder = self.replay();
        for path in entries(&folder).with_context(|| folder.display().to_string())? {
            let iteration = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            if path.extension().is_some_and(|e| e == "shard") && iteration.is_some_and(&unwanted) {
                fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
        }
        Ok(())
    }

    /// Appends a line to the metrics, the whole of it or nothing.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append_metrics(&self, metrics: &impl Serialize) -> Result<()> {
        let path = self.metrics();
        let line = serde_json::to_string(metrics)? + "\n";
        let append = || {
            let mut file = File::options().create(true).append(true).open(&path)?;
            let len = file.metadata()?.len();
            let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
            if written.is_err() {
                let _ = file.set_len(len); // the first error is the one to report
            }
            written
        };
        append().with_context(|| format!("writing {}", path.display()))
    }

    /// Cuts metrics of iterations after `iteration`, and a half-written last line, which an interruption can leave.
    /// Returns how many lines there are then.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn cut_metrics(&self, iteration: u64) -> Result<u64> {
        #[derive(Deserialize)]
        struct Line {
            iteration: u64,
        }
        let path = self.metrics();
        if !path.exists() {
            return Ok(0);
        }
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        let text = String::from_utf8_lossy(&bytes);
        let sound = |line: &&str| serde_json::from_str::<Line>(line).is_ok_and(|line| line.iteration <= iteration);
        let kept: Vec<&str> = text.lines().filter(sound).collect();
        let cut: String = kept.iter().flat_map(|line| [line, "\n"]).collect();
        if cut.as_bytes() != bytes {
            self.write(&path, cut.as_bytes())?;
        }
        Ok(kept.len() as u64)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        atomic_write(path, bytes).with_context(|| format!("writing {}", path.display()))
    }
}

/// What lies in a folder; nothing if it is not there.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// Whether this is a temporary file of `atomic_write` that was never renamed.
fn is_unfinished(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with('.') && name.ends_with(".tmp"))
}

//! The folder of a run: paths, and crash-safe reading and writing of its files. A crash loses at most the iteration in
//! progress. See `runs/README.md`.

mod provenance;
mod state;
mod thinning;

pub use provenance::Provenance;
pub use state::{GameCounts, RunState};
use turnstone_base::checksum::{crc32_text, seal_line};
use turnstone_base::files::{atomic_write, is_unfinished, read_bounded, remove_unfinished, sync};
use turnstone_base::folder_lock::{FolderLock, LOCK_FILE};

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use turnstone_models::{CheckpointInfo, LearnerState, Weights};

use crate::config::RunConfig;
use crate::metrics_file::{self, LONGEST_METRICS};
use turnstone_env::DynGame;
use turnstone_selfplay::replay::{GameId, Shard, ShardError, Window};

/// The folder of a run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Whether [`RunFolder::create`] has made the folder.
    is_made: bool,
    /// Whether it has filled it.
    is_new: bool,
    /// Present in the process that trains in the folder.
    lock: Option<FolderLock>,
}

/// Contents of the file after [`RunFolder::cut_metrics`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KeptMetrics {
    /// Number of lines.
    pub lines: u64,
    /// A message for each damaged line that was cut.
    pub damaged: Vec<String>,
}

impl RunFolder {
    /// Creates and locks a folder with the text of the run's config in it, after `fill` has written what else the run begins
    /// with. With `overwrite`, a run that is already in the folder is removed first.
    ///
    /// The config is written last, as it makes the folder a run: after an interruption there is either a run that can be
    /// resumed, or a folder that is none. If the run does not start, dropping the value removes what was created.
    ///
    /// # Errors
    /// The folder is not empty (with `overwrite`: contains something else than a run), is locked by another process, or
    /// cannot be written.
    pub fn create(path: &Path, config: &str, overwrite: bool, fill: impl FnOnce(&Self) -> Result<()>) -> Result<Self> {
        let named = || format!("run folder {}", path.display());
        let mut folder = Self { path: path.to_owned(), is_made: !path.exists(), is_new: false, lock: None };
        if folder.is_occupied().with_context(named)? {
            if !overwrite {
                bail!("{} exists already: give --resume to continue it or --overwrite to start a new run", named());
            }
            if !folder.config().is_file() {
                bail!("{} holds no run, so it is not overwritten", path.display());
            }
        }
        fs::create_dir_all(path).with_context(named)?;
        folder.lock = Some(FolderLock::take(path)?);
        folder.clear().with_context(|| format!("removing the old run {}", path.display()))?;
        folder.is_new = true;
        fill(&folder)?;
        folder.write(&folder.config(), config.as_bytes())?;
        Ok(folder)
    }

    /// Opens the folder of a run for reading.
    ///
    /// # Errors
    /// The folder contains no run.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = Self { path: path.to_owned(), is_made: false, is_new: false, lock: None };
        if !folder.config().is_file() {
            bail!("{} holds no run", path.display());
        }
        Ok(folder)
    }

    /// Opens and locks the folder of a run to continue it. Temporary files of interrupted writes are removed.
    ///
    /// # Errors
    /// The folder contains no run, or another process is training in it.
    pub fn open_to_train(path: &Path) -> Result<Self> {
        let mut folder = Self::open(path)?;
        folder.lock = Some(FolderLock::take(path)?);
        remove_unfinished(path)?;
        folder.remove_unfinished_parts()?;
        Ok(folder)
    }

    /// Removes files that interrupted writes have left in the subfolders. Other programs may be writing in the folder
    /// itself.
    ///
    /// # Errors
    /// A folder cannot be read or a file not be removed.
    pub fn remove_unfinished_parts(&self) -> Result<()> {
        let parts = [self.replay(), self.checkpoints(), self.tensorboard()];
        Ok(parts.iter().try_for_each(|part| remove_unfinished(part))?)
    }

    /// Creates the subfolders.
    ///
    /// # Errors
    /// They cannot be created.
    pub fn create_dirs(&self) -> Result<()> {
        [self.replay(), self.checkpoints()]
            .iter()
            .try_for_each(|part| fs::create_dir_all(part).with_context(|| part.display().to_string()))
    }

    /// Checks that the folder is still the one that this process has locked.
    ///
    /// # Errors
    /// The folder was removed or replaced in the meantime.
    pub fn check_lock(&self) -> Result<()> {
        if self.lock.as_ref().is_some_and(|lock| !lock.holds()) {
            bail!("run folder {} was removed or replaced during the run", self.path.display());
        }
        Ok(())
    }

    /// Whether the folder contains anything besides what an interrupted start can leave: a lock, beside it a network to
    /// begin with, and temporary files.
    fn is_occupied(&self) -> io::Result<bool> {
        let entries = entries(&self.path)?;
        let was_locked = entries.iter().any(|entry| entry.ends_with(LOCK_FILE));
        let is_ours = |entry: &PathBuf| {
            entry.ends_with(LOCK_FILE) || is_unfinished(entry) || (was_locked && *entry == self.initial())
        };
        Ok(!entries.iter().all(is_ours))
    }

    /// Removes everything but the lock. The config goes last, since it marks the folder as a run.
    fn clear(&self) -> io::Result<()> {
        let (lock, config) = (self.path.join(LOCK_FILE), self.config());
        for entry in entries(&self.path)?.iter().filter(|entry| ![&lock, &config].contains(entry)) {
            if entry.is_dir() && !entry.is_symlink() { fs::remove_dir_all(entry) } else { fs::remove_file(entry) }?;
        }
        if config.exists() { fs::remove_file(config) } else { Ok(()) }
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the run's config.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// Path of the learner's state and the [`RunState`] at the end of the last finished iteration.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.path.join("state.safetensors")
    }

    /// Path of the newest checkpoint.
    #[must_use]
    pub fn latest(&self) -> PathBuf {
        self.path.join("latest.safetensors")
    }

    /// Path of the checkpoint with the best arena score.
    #[must_use]
    pub fn best(&self) -> PathBuf {
        self.path.join("best.safetensors")
    }

    /// Path of the metrics, one JSON object per iteration.
    #[must_use]
    pub fn metrics(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    /// Path of the folder with TensorBoard's event files.
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
    /// The file cannot be written.
    pub fn save_numbered(&self, info: &CheckpointInfo, weights: &Weights) -> Result<()> {
        Ok(turnstone_models::save(&self.numbered(info.step), info, weights)?)
    }

    /// The numbered checkpoints with their steps, oldest first.
    ///
    /// # Errors
    /// Their folder cannot be read.
    pub fn numbered_checkpoints(&self) -> Result<Vec<(u64, PathBuf)>> {
        let folder = self.checkpoints();
        let numbered = |path: PathBuf| {
            let step: u64 =
                path.file_name()?.to_str()?.strip_prefix("step_")?.strip_suffix(".safetensors")?.parse().ok()?;
            (path == self.numbered(step)).then_some((step, path))
        };
        let entries = entries(&folder).with_context(|| folder.display().to_string())?;
        let mut numbered: Vec<(u64, PathBuf)> = entries.into_iter().filter_map(numbered).collect();
        numbered.sort_unstable();
        Ok(numbered)
    }

    /// Removes the numbered checkpoints up to `step` that `run.keep_checkpoints` does not keep.
    ///
    /// # Errors
    /// The folder cannot be read or a file cannot be removed.
    pub fn thin_checkpoints(&self, step: u64, config: &RunConfig) -> Result<()> {
        let steps: Vec<u64> =
            self.numbered_checkpoints()?.into_iter().map(|(own, _)| own).filter(|&own| own <= step).collect();
        for step in thinning::unwanted(&steps, config.keep_checkpoints, config.checkpoint_steps) {
            let path = self.numbered(step);
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// Writes the learner's state and the run's, which completes the iteration: all its other files must have
    /// been written before.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_state(&self, learned: &LearnerState, state: &RunState) -> Result<()> {
        Ok(turnstone_models::save_state(&self.state(), learned, &serde_json::to_string(state)?)?)
    }

    /// Reads what [`RunFolder::save_state`] has written.
    ///
    /// # Errors
    /// The file is missing or damaged.
    pub fn load_state(&self) -> Result<(LearnerState, RunState)> {
        let (learned, text) = turnstone_models::load_state(&self.state())?;
        let named = || format!("{}: the run's state in it", self.state().display());
        let state: RunState = serde_json::from_str(&text).with_context(named)?;
        state.validate().map_err(anyhow::Error::msg).with_context(named)?;
        Ok((learned, state))
    }

    /// Whether the run was interrupted before anything but its config was written.
    #[must_use]
    pub fn is_unstarted(&self) -> bool {
        !self.state().exists() && !self.metrics().exists() && !self.latest().exists()
    }

    /// Writes an iteration's positions.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_shard(&self, shard: &Shard, game: &dyn DynGame) -> Result<()> {
        self.write(&self.shard(shard.iteration), &shard.to_bytes(&game_id(game)))
    }

    /// Reads an iteration's positions.
    ///
    /// # Errors
    /// The shard is missing, damaged, or of another game.
    pub fn load_shard(&self, iteration: u64, game: &dyn DynGame) -> Result<Shard, ShardError> {
        let spec = game.spec();
        Shard::read(&self.shard(iteration), &game_id(game), iteration, spec.features(), spec.actions)
    }

    /// Reads the replay window as of `state`, together with the iterations and errors of shards that cannot be read.
    #[must_use]
    pub fn load_window(&self, state: &RunState, game: &dyn DynGame) -> (Window, Vec<(u64, ShardError)>) {
        let (mut window, mut faults) = (Window::default(), Vec::new());
        for iteration in state.window_from.max(1)..=state.iteration {
            match self.load_shard(iteration, game) {
                Ok(shard) => window.push(Arc::new(shard), usize::MAX),
                Err(fault) => faults.push((iteration, fault)),
            }
        }
        (window, faults)
    }

    /// Removes shards of iterations after `last`, which were not completed.
    ///
    /// # Errors
    /// The folder cannot be read or a file cannot be removed.
    pub fn remove_shards_after(&self, last: u64) -> Result<()> {
        self.remove_shards(|iteration| iteration > last)
    }

    /// Removes shards of iterations before `first`, which have left the window.
    ///
    /// # Errors
    /// The folder cannot be read or a file cannot be removed.
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

    /// Appends a line to the metrics, either completely or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append_metrics(&self, metrics: &impl Serialize) -> Result<()> {
        self.append(&self.metrics(), metrics)
    }

    fn append(&self, path: &Path, line: &impl Serialize) -> Result<()> {
        let line = seal_line(&serde_json::to_string(line)?) + "\n";
        let append = || {
            let mut file = File::options().create(true).append(true).open(path)?;
            let len = file.metadata()?.len();
            let written = file.write_all(line.as_bytes()).and_then(|()| sync(&file));
            if written.is_err() {
                let _ = file.set_len(len); // the first error is the one to report
            }
            written
        };
        append().with_context(|| format!("writing {}", path.display()))
    }

    /// Removes the metrics of iterations after `iteration`, and unreadable lines such as the incomplete last line that
    /// an interruption can leave. Returns the number of remaining lines and the damaged ones.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn cut_metrics(&self, iteration: u64) -> Result<KeptMetrics> {
        #[derive(Deserialize)]
        struct Line {
            iteration: u64,
        }
        let path = self.metrics();
        if !path.exists() {
            return Ok(KeptMetrics::default());
        }
        let bytes = read_bounded(&path, LONGEST_METRICS).with_context(|| path.display().to_string())?;
        let (mut cut, mut kept) = (Vec::new(), KeptMetrics::default());
        for ((number, object), line) in metrics_file::objects(&bytes).zip(bytes.split_inclusive(|&byte| byte == b'\n'))
        {
            let read = object.and_then(|object| serde_json::from_str::<Line>(&object).map_err(|e| e.to_string()));
            match read {
                Ok(read) if read.iteration <= iteration => {
                    cut.extend_from_slice(line);
                    kept.lines += 1;
                }
                Ok(_) => {} // undone
                Err(fault) => kept.damaged.push(format!("{}: line {number}: {fault}", path.display())),
            }
        }
        if cut != bytes {
            self.write(&path, &cut)?;
        }
        Ok(kept)
    }

    /// Copies what this run has written to the folder of its fork, where the provenance then names this run and its state.
    ///
    /// # Errors
    /// The run has not been trained yet, or a file cannot be read or written.
    pub(crate) fn copy_to(&self, fork: &Self) -> Result<()> {
        let Some(last) = self.read_provenance()?.pop() else {
            bail!("{} has not been trained yet: start a new run with its config", self.path.display());
        };
        let parts = [self.replay(), self.checkpoints(), self.tensorboard()];
        let files: Vec<PathBuf> =
            [&self.path].into_iter().chain(&parts).map(|part| entries(part)).collect::<io::Result<Vec<_>>>()?.concat();
        let own = [self.path.join(LOCK_FILE), self.config()];
        fork.create_dirs()?;
        fs::create_dir_all(fork.tensorboard())?;
        for file in files.iter().filter(|file| file.is_file() && !own.contains(file)) {
            let copied = fork.path.join(file.strip_prefix(&self.path).expect("it is in the folder"));
            fs::copy(file, copied).with_context(|| file.display().to_string())?;
        }
        let state = fs::read(self.state()).with_context(|| self.state().display().to_string())?;
        let forked = format!("{} {}", self.path.display(), crc32_text(&state));
        fork.append(&fork.provenance(), &Provenance { iteration: self.finished(), forked, ..last })
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        atomic_write(path, bytes).with_context(|| format!("writing {}", path.display()))
    }
}

impl Drop for RunFolder {
    /// Removes a new folder whose run did not start, so that the next try finds its place free. A folder that was there before
    /// stays, empty.
    fn drop(&mut self) {
        if !self.is_new || (self.config().is_file() && !self.is_unstarted()) || self.check_lock().is_err() {
            return;
        }
        // The fault that the run could not start for is the one to report.
        let _ = self.clear().and_then(|()| fs::remove_file(self.path.join(LOCK_FILE)));
        if self.is_made {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

fn game_id(game: &dyn DynGame) -> GameId {
    GameId { name: game.name().to_owned(), version: game.version(), params: game.params() }
}

/// The entries of a folder; none if it does not exist.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

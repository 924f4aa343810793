//! A run's folder: where its files lie, and reading and writing them so that a crash at any moment loses at most the
//! iteration in progress. See `runs/README.md`.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use turnstone_models::{CheckpointInfo, LearnerState, Weights, atomic_write};

use crate::replay::{GameId, Shard, Window};

/// The files of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
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
    /// Score of the best checkpoint in its arena matches, a mean over the opponents.
    pub best_score: Option<f64>,
}

impl RunFolder {
    /// A new folder with the text of the run's config in it.
    ///
    /// # Errors
    /// The folder holds something already, or cannot be written. With `overwrite` a run in it is removed first, but
    /// only if it is one.
    pub fn create(path: &Path, config: &str, overwrite: bool) -> Result<Self> {
        let folder = Self { path: path.to_owned() };
        let occupied = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => false,
            Err(e) => return Err(e).with_context(|| format!("run folder {}", path.display())),
        };
        if occupied {
            if !overwrite {
                bail!(
                    "run folder {} exists already: give --resume to go on with it or --overwrite to start anew",
                    path.display()
                );
            }
            if !folder.config().is_file() {
                bail!("{} holds no run, so it is not overwritten", path.display());
            }
            fs::remove_dir_all(path).with_context(|| format!("removing the old run {}", path.display()))?;
        }
        fs::create_dir_all(folder.replay())
            .and_then(|()| fs::create_dir_all(folder.path.join("checkpoints")))
            .with_context(|| format!("run folder {}", path.display()))?;
        folder.write(&folder.config(), config.as_bytes())?;
        Ok(folder)
    }

    /// A folder that holds a run.
    ///
    /// # Errors
    /// It does not.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = Self { path: path.to_owned() };
        if !folder.config().is_file() {
            bail!("{} holds no run", path.display());
        }
        Ok(folder)
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

    fn shard(&self, iteration: u64) -> PathBuf {
        self.replay().join(format!("{iteration:06}.shard"))
    }

    /// Writes a numbered checkpoint.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save_numbered(&self, info: &CheckpointInfo, weights: &Weights) -> Result<()> {
        let path = self.path.join(format!("checkpoints/step_{:08}.safetensors", info.step));
        Ok(turnstone_models::save(&path, info, weights)?)
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

    /// Writes an iteration's positions.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_shard(&self, shard: &Shard, game: &GameId) -> Result<()> {
        self.write(&self.shard(shard.iteration), &shard.to_bytes(game))
    }

    /// Reads the replay window as it stood, and removes shards of iterations after it.
    ///
    /// # Errors
    /// A shard is missing or damaged.
    pub fn load_window(&self, standing: &Standing, game: &GameId, features: usize) -> Result<Window> {
        let mut window = Window::default();
        for iteration in standing.window_from.max(1)..=standing.iteration {
            let shard = Shard::read(&self.shard(iteration), game, iteration, features)?;
            window.push(Arc::new(shard), usize::MAX);
        }
        self.remove_shards(|iteration| iteration > standing.iteration)?;
        Ok(window)
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
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let iteration = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            if path.extension().is_some_and(|e| e == "shard") && iteration.is_some_and(&unwanted) {
                fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
        }
        Ok(())
    }

    /// Appends a line to the metrics.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append_metrics(&self, metrics: &impl Serialize) -> Result<()> {
        let path = self.metrics();
        let line = serde_json::to_string(metrics)? + "\n";
        File::options()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(line.as_bytes()).and_then(|()| file.sync_data()))
            .with_context(|| path.display().to_string())
    }

    /// Cuts metrics of iterations after `iteration`, and a half-written last line, which an interruption can leave.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn cut_metrics(&self, iteration: u64) -> Result<()> {
        #[derive(Deserialize)]
        struct Line {
            iteration: u64,
        }
        let path = self.metrics();
        if !path.exists() {
            return Ok(());
        }
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let kept = text
            .split_inclusive('\n')
            .filter(|line| serde_json::from_str::<Line>(line).is_ok_and(|line| line.iteration <= iteration));
        self.write(&path, kept.collect::<String>().as_bytes())
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        atomic_write(path, bytes).with_context(|| format!("writing {}", path.display()))
    }
}

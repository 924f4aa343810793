//! Sweeps: one run for every combination of values, ranked by what the runs have reached.

mod plan;
mod results;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use turnstone_base::files::{atomic_write, is_unfinished, read_text};
use turnstone_base::folder_lock::{FolderLock, LOCK_FILE};
use turnstone_base::terminal::Reporter;
use turnstone_search::Stop;
use turnstone_selfplay::Games;

pub use plan::{Axis, MOST_VARIANTS, Plan, Variant};
pub use results::{Measure, Ranking, VariantResult, best_first, table};

use crate::config::LONGEST_CONFIG;
use crate::report::LiveRun;
use crate::run::{Players, Run, Setup};
use crate::run_folder::RunFolder;

/// Name of the file that defines the sweep of a folder.
const DEFINITION: &str = "sweep.toml";

/// The contents of [`DEFINITION`]: whatever changes the runs.
#[derive(PartialEq, Serialize, Deserialize)]
struct Definition {
    variants: Vec<String>,
    config: toml::Table,
}

/// A sweep in its folder, which holds one run per variant.
#[derive(Debug)]
pub struct Sweep {
    program: String,
    folder: PathBuf,
    plan: Plan,
    _lock: FolderLock,
}

impl Sweep {
    /// Opens the folder of a sweep, which is created if it does not exist. `program` is the name and version that its runs
    /// record.
    ///
    /// # Errors
    /// The folder holds another sweep or something else, another process uses it, or it cannot be written.
    pub fn open(program: &str, folder: &Path, plan: Plan) -> Result<Self> {
        let path = folder.join(DEFINITION);
        let named = || format!("sweep folder {}", folder.display());
        let definition = Definition {
            variants: plan.variants.iter().map(|variant| variant.name.clone()).collect(),
            config: toml::Table::try_from(&plan.variants[0].config).context("the config as a table")?,
        };
        let is_new = !path.exists();
        std::fs::create_dir_all(folder).with_context(named)?;
        if is_new {
            for entry in folder.read_dir().with_context(named)? {
                let entry = entry.with_context(named)?.path();
                if !entry.ends_with(LOCK_FILE) && !is_unfinished(&entry) {
                    bail!("{} is not empty and holds no sweep", folder.display());
                }
            }
        }
        let lock = FolderLock::take(folder)?;
        if is_new {
            atomic_write(&path, toml::to_string(&definition)?.as_bytes()).with_context(named)?;
        } else {
            let text = read_text(&path, LONGEST_CONFIG).with_context(|| path.display().to_string())?;
            let found: Definition = toml::from_str(&text).with_context(|| path.display().to_string())?;
            if found != definition {
                bail!("{} holds a sweep of other values or of another config; name another folder", folder.display());
            }
        }
        Ok(Self { program: program.to_owned(), folder: folder.to_owned(), plan, _lock: lock })
    }

    /// Trains the remaining variants, and returns the results of all in their order. Returns `None` if `stop` was raised;
    /// the same call continues later.
    ///
    /// # Errors
    /// The errors of a run; the message names the variant.
    pub fn train(&self, games: &Games, reporter: &Reporter, stop: &Stop) -> Result<Option<Vec<VariantResult>>> {
        let count = self.plan.variants.len();
        for (number, variant) in self.plan.variants.iter().enumerate() {
            reporter.line(&format!("variant {} of {count}: {}", number + 1, variant.name));
            let trained = self.train_variant(number, games, reporter, stop);
            if !trained.with_context(|| format!("variant {}", variant.name))? {
                return Ok(None);
            }
        }
        (0..count).map(|number| self.result(number, games)).collect::<Result<_>>().map(Some)
    }

    /// Folder of a variant's run.
    fn run_folder(&self, number: usize) -> PathBuf {
        self.folder.join((number + 1).to_string())
    }

    /// Trains a variant. Returns false if it was interrupted.
    fn train_variant(&self, number: usize, games: &Games, reporter: &Reporter, stop: &Stop) -> Result<bool> {
        let (path, config) = (self.run_folder(number), &self.plan.variants[number].config);
        let game = config.game(games).map_err(anyhow::Error::msg)?;
        let folder = if path.join("config.toml").is_file() {
            RunFolder::open_to_train(&path)?
        } else {
            RunFolder::create(&path, &config.text(games)?, false, |_| Ok(()))?
        };
        let players = Players::default();
        let setup = Setup { program: &self.program, game: &*game, config, folder: &folder, reporter, stop, players };
        let run = Run::begin(setup)?;
        if run.iteration() < config.run.iterations {
            run.train(None, &mut |_| {})?;
        }
        Ok(!stop.is_raised())
    }

    fn result(&self, number: usize, games: &Games) -> Result<VariantResult> {
        let run = LiveRun::read(&RunFolder::open(&self.run_folder(number))?, games)?;
        Ok(VariantResult::new(&self.plan.variants[number].name, &self.run_folder(number), &run.history))
    }
}

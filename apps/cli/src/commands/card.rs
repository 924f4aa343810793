//! `turnstone card`: the card of a trained agent, as model hubs and readers want it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use sha2::{Digest, Sha256};
use turnstone_agents::{LoadedNetwork, checkpoint_file};
use turnstone_base::files::{atomic_write, read_bounded, read_text};
use turnstone_selfplay::Games;
use turnstone_trainer::config::Config;
use turnstone_trainer::report::{Card as Text, LiveRun, Measured};
use turnstone_trainer::run_folder::RunFolder;

use crate::args::note_unverified;

/// Longest checkpoint.
const LONGEST_CHECKPOINT: u64 = 1 << 32;
/// Longest text file.
const LONGEST_TEXT: u64 = 1 << 20;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone card runs/{mancala}
      the card of a run's newest checkpoint, on standard output
  turnstone card runs/{mancala} --license mit --out runs/{mancala}/README.md
      beside the checkpoint, as model hubs want it
  turnstone card agent.safetensors --config config.toml --results results.toml
      a checkpoint without its run, with results that were measured later")]
pub(crate) struct Card {
    /// Run folder (its newest checkpoint), or a checkpoint
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Config that a checkpoint without its run was trained with
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Results that were measured later: a TOML file of [[results]] with against, measure, value, interval, unit and how
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Licence of the agent, as an identifier of model hubs, e.g. mit or apache-2.0
    #[arg(long, value_name = "ID")]
    license: Option<String>,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Card {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let path = checkpoint_file(&self.run);
        let folder = self.folder(&path)?;
        let network = LoadedNetwork::read(&path)?;
        note_unverified(&path, &network);
        let bytes = read_bounded(&path, LONGEST_CHECKPOINT).with_context(|| path.display().to_string())?;
        let sha256: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let provenance = folder.as_ref().map(RunFolder::read_provenance).transpose()?.unwrap_or_default();
        let run = match &folder {
            Some(folder) => Some(LiveRun::read(folder, games)?),
            None => self.config.as_deref().map(|path| config_alone(path, games)).transpose()?,
        };
        let found = &network.info.game;
        if let Some(run) = &run {
            let trained = run.config.game(games).map_err(anyhow::Error::msg)?;
            let (path, trained) = (path.display(), trained.name());
            ensure!(trained == found, "{path}: the checkpoint is for the game `{found}`, not `{trained}`");
        }
        let results = self.results.as_deref().map(results).transpose()?.unwrap_or_default();
        let text = Text {
            info: &network.info,
            file: path.file_name().and_then(|name| name.to_str()).context("the checkpoint's name is not UTF-8")?,
            bytes: bytes.len(),
            sha256: &sha256,
            run: run.as_ref(),
            provenance: &provenance,
            results: &results,
            license: self.license.as_deref(),
        }
        .text();
        self.write(&text)
    }

    /// The folder of the run; `None` for a checkpoint alone.
    fn folder(&self, checkpoint: &Path) -> Result<Option<RunFolder>> {
        if !self.run.is_dir() {
            return Ok(None);
        }
        let folder = RunFolder::open(&self.run)?;
        let run = self.run.display();
        ensure!(self.config.is_none(), "{run} is a run, which has its config: leave out --config");
        ensure!(checkpoint.is_file(), "{run} has no checkpoint yet: the first is written after an iteration");
        Ok(Some(folder))
    }

    fn write(&self, text: &str) -> Result<ExitCode> {
        match &self.out {
            Some(out) => atomic_write(out, text.as_bytes()).with_context(|| format!("writing {}", out.display()))?,
            None => print!("{text}"),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A config whose run is gone.
fn config_alone(path: &Path, games: &Games) -> Result<LiveRun> {
    let text = read_text(path, LONGEST_TEXT).with_context(|| path.display().to_string())?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok(LiveRun { config: Config::read_past(path, games)?, text, folder, history: Vec::new() })
}

fn results(path: &Path) -> Result<Vec<Measured>> {
    let text = read_text(path, LONGEST_TEXT).with_context(|| path.display().to_string())?;
    Measured::parse_all(&text).map_err(|fault| anyhow!("{}: {fault}", path.display()))
}

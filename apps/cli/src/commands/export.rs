//! `turnstone export`: a checkpoint for other programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use turnstone_selfplay::Games;

use crate::export::{Existing, Exported, export_onnx, export_page};
use turnstone_agents::{LoadedNetwork, PRETRAINED, game_params};
use turnstone_env::Params;
use turnstone_trainer::report::{LiveRun, readme_sections};
use turnstone_trainer::run_folder::RunFolder;

/// Format of an export.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    /// An ONNX file, and a manifest that says what its inputs and outputs mean
    Onnx,
    /// A page on which people play against the agent: one file, for any static host, or sent by mail
    Page,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone export runs/mancala --format onnx --out mancala
      a network for onnxruntime: mancala/model.onnx, with a manifest
  turnstone export az:pretrained --game mancala --format onnx --out mancala
      the same of the agent that comes with the program
  turnstone export runs/mancala --format page --out page
      a page to play against it, in one file")]
pub(crate) struct Export {
    /// Checkpoint, run folder (its newest checkpoint), or `pretrained` for the agent that comes with the program;
    /// `az:` may stand before it, as in an agent
    #[arg(value_parser = checkpoint)]
    checkpoint: PathBuf,
    /// Format of the export
    #[arg(long, value_enum)]
    format: Format,
    /// Folder to write
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Game that the checkpoint must be for; required with `pretrained`
    #[arg(long, required_if_eq_any([("checkpoint", "pretrained"), ("checkpoint", "az:pretrained")]))]
    game: Option<String>,
    /// Page to export instead of the program's: a folder that apps/web/build.sh has written with a game of your own
    #[arg(long, value_name = "FOLDER")]
    page: Option<PathBuf>,
    /// Replace an existing export
    #[arg(long)]
    overwrite: bool,
}

/// The checkpoint that is named alone or as an agent without options.
fn checkpoint(text: &str) -> Result<PathBuf, String> {
    let Some(agent) = text.strip_prefix("az:") else { return Ok(text.into()) };
    match agent.split_once(',') {
        Some((file, options)) => {
            Err(format!("an export contains the network alone: leave out `{options}` after `{file}`"))
        }
        None if agent.is_empty() => Err("name a checkpoint after `az:`".to_owned()),
        None => Ok(agent.into()),
    }
}

impl Export {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let named = || self.checkpoint.display().to_string();
        let network = if self.checkpoint.as_os_str() == PRETRAINED {
            let game = games.make(self.game.as_deref().context("--game")?, &Params::new())?;
            LoadedNetwork::pretrained(game.name(), game.files().pretrained)?
        } else {
            LoadedNetwork::read(&self.checkpoint)?
        };
        let found = &network.info.game;
        if let Some(game) = self.game.as_ref().filter(|game| *game != found) {
            bail!("{}: the checkpoint is for the game `{found}`, not `{game}`", named());
        }
        let game = games.make(found, &game_params(&network.info)).with_context(named)?;
        let existing = if self.overwrite { Existing::Replace } else { Existing::Keep };
        let network = network.checked(&self.checkpoint, &*game)?;
        ensure!(self.page.is_none() || self.format == Format::Page, "--page is for --format page");
        let training = training(&self.checkpoint, games)?;
        let exported = Exported { game: &*game, network: &network, training: &training };
        let files = match self.format {
            Format::Page => export_page(&exported, self.page.as_deref(), &self.out, existing)?,
            Format::Onnx => export_onnx(&exported, &self.out, existing)?,
        };
        for file in files {
            let bytes = fs::metadata(&file).with_context(|| file.display().to_string())?.len();
            println!("{} ({} KB)", file.display(), bytes.div_ceil(1000));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The README's part about a run's folder; empty for a checkpoint alone.
fn training(checkpoint: &Path, games: &Games) -> Result<String> {
    match RunFolder::open(checkpoint) {
        Ok(folder) => Ok(readme_sections(&LiveRun::read(&folder, games)?, &folder.read_provenance()?)),
        Err(_) => Ok(String::new()),
    }
}

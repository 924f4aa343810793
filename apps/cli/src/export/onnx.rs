//! The folder with a network in ONNX: the file, its manifest, and pages for readers.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;
use turnstone_agents::shape;
use turnstone_agents::sheet::plain;
use turnstone_models::onnx;

use super::Exported;
use super::folder::{Existing, folder, write_file};
use super::manifest::{VERSION_KEY, describe, onnx_file, readable};
use super::readme::{readme, sha256};

const ONNX: &str = "model.onnx";
const MANIFEST: &str = "manifest.json";
const README: &str = "README.md";
const RULES: &str = "RULES.md";

/// Writes the folder and returns the paths of its files. The file's metadata are the checkpoint's and the parts of the
/// manifest, each as JSON.
///
/// # Errors
/// The folder exists or cannot be written, or the network does not fit the game.
pub fn export_onnx(exported: &Exported<'_>, out: &Path, existing: Existing) -> Result<Vec<PathBuf>> {
    let Exported { game, network, .. } = *exported;
    let mut info = network.info.clone();
    info.shape = shape(game.spec());
    let mut manifest = describe(game, &info, network.weights.count());
    info.extra.extend(manifest.iter().map(|(key, value)| (key.clone(), value.to_string())));
    let model = onnx(&info, &network.weights).with_context(|| out.display().to_string())?;
    manifest.insert("onnx".to_owned(), onnx_file(ONNX, &model, &manifest));
    let mut files = vec![(MANIFEST, readable(&manifest).into_bytes())];
    let mut contents = vec![
        (MANIFEST, "planes, actions, policy, value, symmetries, inputs and outputs".to_owned()),
        (ONNX, format!("the network; SHA-256 `{}`", sha256(&model))),
    ];
    files.push((ONNX, model));
    if let Some(sheet) = game.files().sheet {
        contents.push((RULES, "the game: rules, parameters, planes, actions, notation".to_owned()));
        files.push((RULES, plain(sheet).into_bytes()));
    }
    files.push((README, readme(exported, &contents).into_bytes()));
    folder(out, is_export, existing, |new| {
        files.iter().try_for_each(|(name, bytes)| write_file(&new.join(name), bytes))
    })?;
    Ok(files.iter().map(|(name, _)| out.join(name)).collect())
}

/// Whether a folder contains the manifest of an export.
fn is_export(folder: &Path) -> bool {
    let manifest = fs::read(folder.join(MANIFEST)).ok();
    let manifest: Option<Value> = manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    manifest.is_some_and(|manifest| manifest.get(VERSION_KEY).is_some())
}

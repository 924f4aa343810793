//! The bundle: a folder with the network in both formats, its description, the game's rules in Python, and an example.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::{Map, Value};
use turnstone_models::{CheckpointInfo, Weights};

use super::describe::VERSION_KEY;
use super::files::{description_text, licences, onnx_bytes, write_file, write_safetensors};
use super::place::{self, Existing};

const MANIFEST: &str = "manifest.json";
const ONNX: &str = "model.onnx";
const SAFETENSORS: &str = "model.safetensors";

const EXAMPLE: &str = include_str!("example.py");

/// Writes the folder, with these rules in Python, and returns the paths of its files.
pub(super) fn write(
    rules: &[(&str, &str)],
    out: &Path,
    existing: Existing,
    info: &CheckpointInfo,
    weights: &Weights,
    description: Map<String, Value>,
) -> Result<Vec<PathBuf>> {
    if rules.is_empty() {
        bail!("there are no rules of `{}` in Python: export it as onnx", info.game);
    }
    let readme = readme(info);
    let texts = [("README.md", readme.as_str()), ("example.py", EXAMPLE)];
    let texts: Vec<(&str, &str)> = texts.into_iter().chain(rules.iter().copied()).chain(licences()).collect();
    place::folder(out, is_bundle, existing, |folder| {
        write_safetensors(&folder.join(SAFETENSORS), info, weights, &description)?;
        let path = folder.join(ONNX);
        write_file(&path, &onnx_bytes(&path, info, weights, &description)?)?;
        for (name, text) in &texts {
            write_file(&folder.join(name), text.as_bytes())?;
        }
        write_file(&folder.join(MANIFEST), description_text(ONNX, description).as_bytes())
    })?;
    let names = [MANIFEST, ONNX, SAFETENSORS].into_iter().chain(texts.iter().map(|&(name, _)| name));
    Ok(names.map(|name| out.join(name)).collect())
}

/// Whether a folder contains the manifest of a bundle.
fn is_bundle(folder: &Path) -> bool {
    let manifest = fs::read(folder.join(MANIFEST)).ok();
    let manifest: Option<Value> = manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    manifest.is_some_and(|manifest| manifest.get(VERSION_KEY).is_some())
}

fn readme(info: &CheckpointInfo) -> String {
    let CheckpointInfo { game, network, step, .. } = info;
    let params: Vec<String> = info.params.iter().map(|(key, value)| format!("{key}={}", text(value))).collect();
    format!(
        "# {game}: a trained network\n\n\
         Game `{game}` version {} with {}; {network}; {step} training steps.\n\n\
         | file | what it is |\n|---|---|\n\
         | `{ONNX}` | the network: planes in, logits out |\n\
         | `{SAFETENSORS}` | the same weights by name, with the forward pass in the metadata |\n\
         | `{MANIFEST}` | planes, actions, symmetries, names of inputs and outputs |\n\
         | `rules.py` | the game's rules: `start`, `legal`, `play`, `outcome`, and its planes by name |\n\
         | `example.py` | plays a game: `pip install numpy onnxruntime`, then `python example.py` (Python 3.7, \
         onnxruntime 1.12, or newer); with the package `turnstone` installed it takes the rules from there |\n\n\
         The code in this folder is licensed under MIT or Apache-2.0, at your option, and so are weights that came with \
         turnstone; other weights belong to those who trained them. What the manifest's keys mean is in turnstone's \
         docs/export.md.\n",
        info.game_version,
        params.join(" "),
    )
}

/// A JSON value as text, strings without quotes.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

//! The files of an export: weights and network, each with its description in it or beside it.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use turnstone_base::files::atomic_write;
use turnstone_models::{CheckpointInfo, OPSET, Weights, forward_pass, onnx, save};

use super::describe::{onnx_file, readable};

/// Key of the forward pass, which only the metadata of safetensors files contains.
pub(super) const FORWARD: &str = "forward";

/// The checkpoint's metadata with each part of the description added as JSON.
fn with_metadata(info: &CheckpointInfo, description: &Map<String, Value>) -> CheckpointInfo {
    let mut info = info.clone();
    info.extra.extend(description.iter().map(|(key, value)| (key.clone(), value.to_string())));
    info
}

pub(super) fn write_safetensors(
    path: &Path,
    info: &CheckpointInfo,
    weights: &Weights,
    description: &Map<String, Value>,
) -> Result<()> {
    let mut description = description.clone();
    let pass = forward_pass(&info.network, &info.shape)?;
    description.insert(FORWARD.into(), json!({ "opset": OPSET, "constants": pass.constants, "steps": pass.steps }));
    Ok(save(path, &with_metadata(info, &description), weights)?)
}

pub(super) fn onnx_bytes(
    path: &Path,
    info: &CheckpointInfo,
    weights: &Weights,
    description: &Map<String, Value>,
) -> Result<Vec<u8>> {
    onnx(&with_metadata(info, description), weights).with_context(|| path.display().to_string())
}

pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    atomic_write(path, bytes).with_context(|| path.display().to_string())
}

/// The description beside an ONNX file.
pub(super) fn description_text(onnx: &str, mut description: Map<String, Value>) -> String {
    description.insert("onnx".into(), onnx_file(onnx, &description));
    readable(&description)
}

/// The texts of the licences of what an export contains of this program.
pub(super) fn licences() -> [(&'static str, &'static str); 2] {
    [("LICENSE-MIT", include_str!("licences/LICENSE-MIT")), ("LICENSE-APACHE", include_str!("licences/LICENSE-APACHE"))]
}

//! A checkpoint for other programs: safetensors that describe themselves, ONNX with a sidecar, or a bundle that plays.

mod describe;
mod bundle;
mod place;

pub use bundle::rules;
pub use place::Existing;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use turnstone_env::DynGame;
use turnstone_models::{CheckpointInfo, OPSET, Weights, atomic_write, forward_pass, onnx, save};

use self::describe::describe;
use turnstone_agents::LoadedNetwork;
use turnstone_agents::shape;

/// The part of a safetensors file's metadata that is in no other description.
const FORWARD: &str = "forward";

/// What is written.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One file: the weights, and in its metadata all that it takes to run them
    Safetensors,
    /// The network as an ONNX file, and a description beside it: the same name with `.json`
    Onnx,
    /// A folder with both, the game's rules in Python, and a program that plays
    Bundle,
}

/// Writes a checkpoint of this game to `out` and returns the files.
///
/// # Errors
/// One line: something stands there already, cannot be written, or the game lacks what the format needs.
pub fn export(
    game: &dyn DynGame,
    network: LoadedNetwork,
    format: Format,
    out: &Path,
    existing: Existing,
) -> Result<Vec<PathBuf>> {
    let LoadedNetwork { mut info, weights } = network;
    info.shape = shape(game.spec()); // older files lack the board
    info.extra.remove(FORWARD); // an export can be exported again
    let description = describe(game, &info, weights.count());
    match format {
        Format::Safetensors => {
            place::free(out, existing)?;
            write_safetensors(out, &info, &weights, &description)?;
            Ok(vec![out.to_owned()])
        }
        Format::Onnx => {
            let sidecar = out.with_extension("json");
            if sidecar == out {
                bail!("{}: the description beside it takes the name with .json", out.display());
            }
            place::free(out, existing)?;
            place::free(&sidecar, existing)?;
            let file = out.file_name().with_context(|| format!("{} names no file", out.display()))?;
            write_description(&sidecar, &file.to_string_lossy(), description.clone())?;
            write_onnx(out, &info, &weights, &description)?;
            Ok(vec![out.to_owned(), sidecar])
        }
        Format::Bundle => bundle::write(out, existing, &info, &weights, description),
    }
}

/// The metadata of a file: what the checkpoint says, and each part of the description as JSON.
fn with_metadata(info: &CheckpointInfo, description: &Map<String, Value>) -> CheckpointInfo {
    let mut info = info.clone();
    info.extra.extend(description.iter().map(|(key, value)| (key.clone(), value.to_string())));
    info
}

fn write_safetensors(
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

fn write_onnx(path: &Path, info: &CheckpointInfo, weights: &Weights, description: &Map<String, Value>) -> Result<()> {
    let bytes = onnx(&with_metadata(info, description), weights).with_context(|| path.display().to_string())?;
    write_file(path, &bytes)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    atomic_write(path, bytes).with_context(|| path.display().to_string())
}

/// Writes the description of an ONNX file that lies beside it.
fn write_description(path: &Path, onnx: &str, mut description: Map<String, Value>) -> Result<()> {
    description.insert("onnx".into(), describe::onnx_file(onnx, &description));
    write_file(path, describe::readable(&description).as_bytes())
}

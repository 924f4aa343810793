//! A checkpoint for other programs: safetensors that describe themselves, ONNX with a sidecar, or a bundle that plays.

mod describe;
mod place;
mod files;
mod bundle;

pub use bundle::rules;
pub use place::Existing;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use turnstone_env::DynGame;

use self::describe::describe;
use self::files::{FORWARD, write_description, write_onnx, write_safetensors};
use turnstone_agents::LoadedNetwork;
use turnstone_agents::shape;

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

//! Exports of a checkpoint: self-describing safetensors, ONNX with a JSON description, a Python bundle, or a page.

mod describe;
mod place;
mod files;
mod bundle;
mod page;

pub use place::Existing;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use self::describe::describe;
use self::files::{FORWARD, description_text, onnx_bytes, write_safetensors};
use turnstone_agents::{LoadedNetwork, PlayableGame, shape};

/// Format of an export.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One file with the weights, and a description of the network in its metadata
    Safetensors,
    /// An ONNX file, and a description of the same name with `.json`
    Onnx,
    /// A folder with both, the game's rules in Python, and an example program
    Bundle,
    /// A folder with a page on which people play against the agent: one file, for any static host, or sent by mail
    Page,
}

/// Writes a checkpoint of this game to `out` and returns the paths of the files.
///
/// # Errors
/// The file or folder exists, it cannot be written, or the game has no rules in Python for a bundle.
pub fn export(
    game: &dyn PlayableGame,
    network: LoadedNetwork,
    format: Format,
    out: &Path,
    existing: Existing,
) -> Result<Vec<PathBuf>> {
    let LoadedNetwork { mut info, weights, .. } = network;
    info.shape = shape(game.spec()); // older files lack the board
    info.extra.remove(FORWARD); // present if the checkpoint is itself an export
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
            let network = onnx_bytes(out, &info, &weights, &description)?;
            let sidecar_text = description_text(&file.to_string_lossy(), description);
            place::with_sidecar((out, &network), (&sidecar, sidecar_text.as_bytes()))?;
            Ok(vec![out.to_owned(), sidecar])
        }
        Format::Page => page::write(game, None, out, existing, &info, &weights),
        Format::Bundle => bundle::write(game.files().python_rules, out, existing, &info, &weights, description),
    }
}

/// [`export`] as a page, made from the page in the folder `source` or else from the program's own.
pub(crate) fn export_page(
    game: &dyn PlayableGame,
    network: &LoadedNetwork,
    source: Option<&Path>,
    out: &Path,
    existing: Existing,
) -> Result<Vec<PathBuf>> {
    page::write(game, source, out, existing, &network.info, &network.weights)
}

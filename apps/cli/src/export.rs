//! Exports of a checkpoint: a folder with an ONNX file and its manifest, or with a page.

mod readme;
mod manifest;
mod folder;
mod onnx;
mod page;

pub use folder::Existing;
pub use onnx::export_onnx;
pub use page::export_page;

use turnstone_agents::{LoadedNetwork, PlayableGame};

/// What is exported.
#[derive(Clone, Copy, Debug)]
pub struct Exported<'a> {
    /// The game, with the checkpoint's parameters.
    pub game: &'a dyn PlayableGame,
    /// The checkpoint.
    pub network: &'a LoadedNetwork,
    /// Sections in Markdown on the run that trained it, for the README; empty if the run is not known.
    pub training: &'a str,
}

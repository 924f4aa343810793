//! The bodies of the fuzz targets: each reads arbitrary bytes as one kind of input, and uses what the reader accepts.
//!
//! A body panics if a reader does not stand by what it has accepted. Everything else that is wrong with an input has to
//! come back as an error.

mod scratch;
mod text;
mod files;
mod pyro;
mod sessions;
mod cluster;
#[path = "../../../env/tests/text_checks.rs"]
mod text_checks;
#[path = "../../../models/tests/common/resealed.rs"]
mod resealed;
pub mod mutation;

/// A kind of input.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name of the fuzz target.
    pub name: &'static str,
    /// Reads bytes. Returns whether they were accepted.
    pub run: fn(&[u8]) -> bool,
    /// Valid inputs, from which a campaign starts.
    pub examples: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 11] = [
    Target { name: "notation", run: text::notation, examples: text::example_notation },
    Target { name: "agent_specs", run: text::agent_specs, examples: text::example_agent_specs },
    Target { name: "truth_sets", run: text::truth_sets, examples: text::example_truth_sets },
    Target { name: "checkpoints", run: files::checkpoints, examples: files::example_checkpoints },
    Target { name: "saved_games", run: files::saved_games, examples: files::example_saved_games },
    Target { name: "tables", run: files::tables, examples: files::example_tables },
    Target { name: "ugi", run: sessions::ugi, examples: sessions::example_ugi },
    Target { name: "analysis", run: sessions::analysis, examples: sessions::example_analysis },
    Target { name: "pyro_pickles", run: pyro::pickles, examples: pyro::example_pickles },
    Target { name: "pyro_requests", run: pyro::requests, examples: pyro::example_requests },
    Target { name: "cluster_messages", run: cluster::messages, examples: cluster::example_messages },
];

/// Runs a target on bytes.
///
/// # Panics
/// If there is no target of this name, or a reader has a fault.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.unwrap_or_else(|| panic!("no target is named `{name}`"));
    (target.run)(data);
}

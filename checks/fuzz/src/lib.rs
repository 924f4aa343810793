//! The bodies of the fuzz targets: each reads arbitrary bytes as one kind of input, and uses what the reader accepts.
//!
//! A body panics if a reader does not stand by what it has accepted. Everything else that is wrong with an input has to
//! come back as an error.

mod scratch;
mod text;
mod files;
mod forged;
mod pyro;
mod sessions;
mod cluster;
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
pub const TARGETS: [Target; 28] = [
    Target { name: "positions", run: text::positions, examples: text::example_positions },
    Target { name: "actions", run: text::actions, examples: text::example_actions },
    Target { name: "params", run: text::params, examples: text::example_params },
    Target { name: "agent_specs", run: text::agent_specs, examples: text::example_agent_specs },
    Target { name: "configs", run: text::configs, examples: text::example_configs },
    Target { name: "ladders", run: text::ladders, examples: text::example_ladders },
    Target { name: "truth_sets", run: text::truth_sets, examples: text::example_truth_sets },
    Target { name: "metrics", run: text::metrics, examples: text::example_metrics },
    Target { name: "lines", run: text::lines, examples: text::example_lines },
    Target { name: "ugi_commands", run: text::ugi_commands, examples: text::example_ugi_commands },
    Target { name: "analysis_queries", run: text::analysis_queries, examples: text::example_analysis_queries },
    Target { name: "pyro_pickles", run: pyro::pickles, examples: pyro::example_pickles },
    Target { name: "pyro_requests", run: pyro::requests, examples: pyro::example_requests },
    Target { name: "checkpoints", run: files::checkpoints, examples: files::example_checkpoints },
    Target { name: "learner_states", run: files::learner_states, examples: files::example_learner_states },
    Target { name: "shards", run: files::shards, examples: files::example_shards },
    Target { name: "journals", run: files::journals, examples: files::example_journals },
    Target { name: "saved_games", run: files::saved_games, examples: files::example_saved_games },
    Target { name: "tables", run: files::tables, examples: files::example_tables },
    Target { name: "forged_shards", run: forged::shards, examples: forged::example_shards },
    Target { name: "forged_tables", run: forged::tables, examples: files::example_tables },
    Target { name: "forged_states", run: forged::states, examples: forged::example_states },
    Target { name: "forged_journals", run: forged::journals, examples: forged::example_journals },
    Target { name: "ugi_sessions", run: sessions::ugi, examples: sessions::example_ugi },
    Target { name: "analysis_sessions", run: sessions::analysis, examples: sessions::example_analysis },
    Target { name: "cluster_messages", run: cluster::messages, examples: cluster::example_messages },
    Target { name: "cluster_jobs", run: cluster::jobs, examples: cluster::example_jobs },
    Target { name: "transcripts", run: cluster::transcripts, examples: cluster::example_transcripts },
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

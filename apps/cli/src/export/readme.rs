//! The README of an export: what the agent is, how it was trained, how strong it is; with the front matter of model hubs.

use sha2::{Digest, Sha256};
use turnstone_agents::PRETRAINED;
use turnstone_arena::page::title;
use turnstone_models::CheckpointInfo;

use super::Exported;
use crate::output::one_line;

/// Writes the README. `files` are names and what each file is.
pub(super) fn readme(exported: &Exported<'_>, files: &[(&str, String)]) -> String {
    let Exported { game, network, training } = *exported;
    let CheckpointInfo { network: kind, step, created_by, .. } = &network.info;
    let (name, created_by) = (game.name(), one_line(created_by, "..."));
    let tags = ["reinforcement-learning", "self-play", "alphazero", "board-games", name];
    let tags: String = tags.iter().map(|tag| format!("- {tag}\n")).collect();
    let params: Vec<String> = game.params().iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let files: String = files.iter().map(|(file, what)| format!("| `{file}` | {what} |\n")).collect();
    let training = if training.is_empty() { "## Training\n\nThe run is not known.\n\n" } else { training };
    format!(
        "---\nlibrary_name: turnstone\npipeline_tag: reinforcement-learning\ntags:\n{tags}---\n\n\
         # {}: an agent trained by self-play\n\n\
         A network for `{name}`, trained by self-play with Turnstone.\n\n\
         | | |\n|---|---|\n\
         | game | `{name}`, version {} of its rules |\n\
         | parameters of the game | {} |\n\
         | network | {kind}, {} parameters |\n\
         | learner steps | {step} |\n\
         | written by | {created_by} |\n\n\
         ## Files\n\n| file | content |\n|---|---|\n{files}\n\
         Turnstone's docs/export.md explains the manifest and has an example program. Code and weights that come with \
         Turnstone (`{PRETRAINED}`) are licensed under MIT or Apache-2.0, at your option; other weights belong to those \
         who trained them.\n\n\
         {training}\
         ## Limits\n\n\
         The agent plays this game with these parameters only. Its strength depends on the number of simulations. The \
         value is the network's estimate.\n",
        title(name),
        game.version(),
        params.join(", "),
        network.weights.count(),
    )
}

/// SHA-256 as hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

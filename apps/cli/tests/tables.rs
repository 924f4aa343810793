//! The table of a config's keys in configs/README.md. `UPDATE=1 cargo test --release -p turnstone tables` writes it.

use std::fs;
use std::path::Path;

use turnstone_base::settings::{Settings, table};
use turnstone_models::{NetworkConfig, network_kinds};
use turnstone_trainer::config::{ArenaConfig, Config, LearnConfig, RunConfig, SearchConfig, SelfPlayConfig};

const HEAD: &str = "\n| key | default | must be | meaning |\n|---|---|---|---|\n";

/// Compares the table of the page, or writes it.
fn check(rows: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/README.md");
    let text = fs::read_to_string(&path).expect("readable");
    let (before, rest) = text.split_once(HEAD).expect("the head of the table");
    let end = rest.find("\n\n").expect("an empty line behind the table") + 1;
    if rest[..end] == *rows {
        return;
    }
    assert!(std::env::var_os("UPDATE").is_some(), "the table is not the program's: UPDATE=1 writes it");
    fs::write(path, format!("{before}{HEAD}{rows}{}", &rest[end..])).expect("writable");
}

/// A row above those of a part of the table.
fn heading(name: &str, about: &str) -> String {
    let about = about.trim();
    let sentence = about.split_once(". ").map_or(about, |(sentence, _)| sentence).trim_end_matches('.');
    format!("| **{name}** | | | {sentence} |\n")
}

#[test]
fn the_keys_of_configs() {
    let mut config = Config::default();
    let mut rows = String::new();
    for (section, settings) in config.sections() {
        let about = match section {
            "search" => SearchConfig::ABOUT,
            "self_play" => SelfPlayConfig::ABOUT,
            "learn" => LearnConfig::ABOUT,
            "arena" => ArenaConfig::ABOUT,
            "run" => RunConfig::ABOUT,
            _ => "",
        };
        match section {
            "" => {
                rows += &table(&settings);
                rows +=
                    &heading("`[game]`", "The game: its `name`, as `turnstone games` lists it, and its parameters.");
            }
            "net" => {
                for kind in network_kinds() {
                    let mut network = NetworkConfig::of_kind(kind).expect("a kind");
                    let default = if kind == NetworkConfig::default().kind() { ", the default" } else { "" };
                    rows += &heading(&format!("`[net]`, `kind = \"{kind}\"`{default}"), network.about());
                    rows += &table(&network.settings());
                }
            }
            _ => {
                rows += &heading(&format!("`[{section}]`"), about);
                rows += &table(&settings);
            }
        }
    }
    check(&rows);
}

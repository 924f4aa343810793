//! Writes the list of the trained agents `pretrained/<game>.safetensors` that the feature `pretrained` compiles in.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const FOLDER: &str = "pretrained";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut games = Vec::new();
    if env::var_os("CARGO_FEATURE_PRETRAINED").is_some() {
        let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(FOLDER);
        for entry in fs::read_dir(folder)? {
            games.extend(game(&entry?.path()));
        }
        games.sort();
    }
    let rows: String = games
        .iter()
        .map(|game| {
            let path = format!("/{FOLDER}/{game}.safetensors");
            format!("({game:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),\n")
        })
        .collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("pretrained.rs");
    fs::write(out, format!("&[\n{rows}]\n"))
}

/// The name of the game of a checkpoint, or `None` for other files.
fn game(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    (path.extension()? == "safetensors").then(|| name.to_owned())
}

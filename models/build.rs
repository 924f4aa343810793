//! Lists the trained agents that come with the program, `models/pretrained/<game>.safetensors`, so that they are
//! compiled into it.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const FOLDER: &str = "../models/pretrained";

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(FOLDER);
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut games: Vec<String> = match fs::read_dir(&folder) {
        Ok(entries) => entries.filter_map(|entry| game(&entry.ok()?.path())).collect(),
        Err(_) => Vec::new(), // a package without the folder has no such agents
    };
    games.sort();
    let shipped: String = games
        .iter()
        .map(|game| {
            let path = format!("/{FOLDER}/{game}.safetensors");
            format!("({game:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),\n")
        })
        .collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("pretrained.rs");
    fs::write(out, format!("&[\n{shipped}]\n"))
}

fn game(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    (path.extension()? == "safetensors").then(|| name.to_owned())
}

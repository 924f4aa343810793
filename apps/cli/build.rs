//! Determines the commit that the program is built from: `TURNSTONE_COMMIT` becomes `ab12cd34 2026-11-22`, with a `+`
//! after the hash if files that are compiled in differ from the commit, or `unknown`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Files and folders of a crate that are compiled in.
const SOURCES: [&str; 7] = ["src", "build.rs", "Cargo.toml", "ladders", "truth", "sheets", "pretrained"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let commit = in_repository(&package).or_else(|| in_package(&package));
    println!("cargo::rustc-env=TURNSTONE_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// The commit of the repository that the crate is part of. The script runs again when the commit or a source changes.
fn in_repository(package: &Path) -> Option<String> {
    // A repository around an unpacked package is another project's.
    git(package, &["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let root = PathBuf::from(git(package, &["rev-parse", "--show-toplevel"])?);
    let branch = git(package, &["rev-parse", "--symbolic-full-name", "HEAD"])?;
    for file in ["HEAD", "logs/HEAD", &branch] {
        watch(&package.join(git(package, &["rev-parse", "--git-path", file])?));
    }
    let mut sources = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
    for entry in fs::read_dir(&root).ok()?.flatten() {
        sources.extend(SOURCES.map(|source| entry.path().join(source)));
    }
    sources.retain(|source| source.exists());
    sources.iter().for_each(|source| watch(source));
    let sources: Vec<_> = sources.iter().filter_map(|source| source.to_str()).collect();
    let changes = git(&root, &[&["status", "--porcelain", "--"], &sources[..]].concat())?;
    let mark = if changes.is_empty() { "" } else { "+" };
    let commit = git(&root, &["log", "-1", "--abbrev=8", "--format=%h %cs"])?;
    let (hash, date) = commit.split_once(' ')?;
    Some(format!("{hash}{mark} {date}"))
}

/// The commit that `cargo package` has noted. It notes no date.
fn in_package(package: &Path) -> Option<String> {
    let note = fs::read_to_string(package.join(".cargo_vcs_info.json")).ok()?;
    let (_, after) = note.split_once("\"sha1\"")?;
    let hash = after.split('"').nth(1).filter(|hash| hash.len() >= 8 && hash.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let mark = if note.contains("\"dirty\": true") { "+" } else { "" };
    Some(format!("{}{mark}", &hash[..8]))
}

fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// The output of a git command, or `None` if it fails.
fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(folder).env("GIT_OPTIONAL_LOCKS", "0").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

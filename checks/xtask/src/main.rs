//! `cargo run -p xtask -- map [CRATE]`: every file of the product with its first sentence, in reading order.
//! `cargo run -p xtask -- lines`: the lines of every crate.

mod lines;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use xtask::root;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["map"] => None,
        ["map", wanted] => Some(wanted),
        ["lines"] => {
            lines::print(root(), &crates());
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("usage: cargo run -p xtask -- map [CRATE]\n       cargo run -p xtask -- lines");
            return ExitCode::FAILURE;
        }
    };
    let mut folders = crates();
    folders.retain(|folder| wanted.is_none_or(|wanted| is_named(folder, wanted)));
    for folder in &folders {
        for (path, sentence) in map(&root().join(folder).join("src")) {
            println!("{:<48} {sentence}", format!("{folder}/src/{path}"));
        }
    }
    if folders.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Whether a folder such as `apps/cli` is meant by `cli`, `apps/cli` or `apps`.
fn is_named(folder: &str, wanted: &str) -> bool {
    folder == wanted || folder.split('/').any(|part| part == wanted)
}

/// The folders of the product's crates, in the order of the manifest.
fn crates() -> Vec<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let (_, members) = manifest.split_once("\nmembers = [").expect("members");
    let (members, _) = members.split_once(']').expect("the end of the members");
    let folders = members.split('"').skip(1).step_by(2).chain(["apps/python"]);
    folders.filter(|folder| !folder.starts_with("checks/")).map(str::to_owned).collect()
}

/// The files below `src`, each with its first sentence: a crate's root, then its modules as they are declared.
fn map(src: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for first in ["lib.rs", "main.rs"].iter().filter(|first| src.join(first).is_file()) {
        add(src, first, "", &mut files);
    }
    files
}

/// Adds a file and the modules that it declares, which are files in `folder`.
fn add(src: &Path, file: &str, folder: &str, files: &mut Vec<(String, String)>) {
    let text = fs::read_to_string(src.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    files.push((file.to_owned(), sentence(&text)));
    for module in declared(&text) {
        let child = format!("{folder}{module}.rs");
        if src.join(&child).is_file() && !files.iter().any(|(file, _)| *file == child) {
            add(src, &child, &format!("{folder}{module}/"), files);
        }
    }
}

/// The names of the modules that a file declares and that are files of their own.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (before, name) = line.trim().strip_suffix(';')?.split_once("mod ")?;
        (before.is_empty() || before.starts_with("pub")).then_some(name)
    })
}

/// The first sentence of a file's `//!` lines.
fn sentence(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//! "));
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    let end = paragraph.find(". ").unwrap_or(paragraph.len());
    paragraph[..end].trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_is_on_the_map() {
        fn below(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
            for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
                let name = format!("{prefix}{}", entry.file_name().to_str().expect("UTF-8"));
                if entry.path().is_dir() {
                    below(&entry.path(), &format!("{name}/"), found);
                } else if name.ends_with(".rs") {
                    found.insert(name);
                }
            }
        }
        for folder in crates() {
            let src = root().join(&folder).join("src");
            let mut files = BTreeSet::new();
            below(&src, "", &mut files);
            let map = map(&src);
            assert!(map.iter().all(|(_, sentence)| !sentence.is_empty()), "{folder}: {map:?}");
            assert_eq!(map.len(), files.len(), "{folder}");
            assert_eq!(map.into_iter().map(|(path, _)| path).collect::<BTreeSet<_>>(), files, "{folder}");
        }
    }

    #[test]
    fn a_sentence_may_take_lines() {
        let text = "//! One file: `a.rs` and\n//! more. Not this.\n//!\n//! Nor this.\n\npub(crate) mod a;\nmod b;\nmod c {}\n";
        assert_eq!(sentence(text), "One file: `a.rs` and more");
        assert_eq!(declared(text).collect::<Vec<_>>(), ["a", "b"]);
    }
}

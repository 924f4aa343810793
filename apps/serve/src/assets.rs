//! The files of the page: compiled in, or read from a folder when the server starts.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use bytes::Bytes;

use crate::reply::{HTML, Reply, type_of_file};

/// Largest file that is read from a folder.
const LARGEST: u64 = 64 << 20;

/// Ending of a file that is compressed and is sent so, under its name without the ending.
const COMPRESSED: &str = ".gz";

/// The mark in the page where links to the pages of runs go; a static folder has none.
const LINKS: &str = "<!-- links -->";

/// The attribute of the page with the games whose agents there are.
const AGENTS: &str = "data-agents=\"";

macro_rules! page_files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_bytes!(concat!("../page/", $name)))),+]
    };
}

const BUILT: &[(&str, &[u8])] = page_files![
    "index.html",
    "icon.svg",
    "icon-192.png",
    "manifest.webmanifest",
    "page.js.gz",
    "worker.js.gz",
    "offline.js.gz",
    "style.css.gz",
    "turnstone.wasm.gz"
];

/// A file of the page.
#[derive(Clone, Debug)]
pub struct PageFile {
    /// Its name, without the ending of compressed files.
    pub name: String,
    /// Whether the bytes are compressed with gzip.
    pub compressed: bool,
    /// Its bytes.
    pub bytes: Bytes,
}

/// The files of the page that is compiled in.
#[must_use]
pub fn page() -> Vec<PageFile> {
    BUILT.iter().map(|&(name, bytes)| page_file(name, Bytes::from_static(bytes))).collect()
}

/// The files of the page in a folder, as `apps/web/build.sh` writes it.
///
/// # Errors
/// As for the folder of a server: it or a file cannot be read, a file is too large, or there is no `index.html`.
pub fn page_in(folder: &Path) -> io::Result<Vec<PageFile>> {
    let files = read(folder)?;
    Ok(files.into_iter().map(|(name, bytes)| page_file(&name, bytes)).collect())
}

fn page_file(name: &str, bytes: Bytes) -> PageFile {
    let plain = name.strip_suffix(COMPRESSED).unwrap_or(name);
    PageFile { name: plain.to_owned(), compressed: plain != name, bytes }
}

/// The files by name, ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Assets {
    files: BTreeMap<String, Reply>,
}

impl Assets {
    /// The page that is compiled in, on a server with the agents of these games.
    pub(crate) fn built_in(agents: &[&str]) -> Self {
        Self { files: BUILT.iter().map(|&(name, bytes)| reply(name, Bytes::from_static(bytes), agents)).collect() }
    }

    /// The page in a folder, as `apps/web/build.sh` writes it, on a server with the agents of these games; its subfolders are
    /// left out.
    ///
    /// # Errors
    /// The folder or a file cannot be read, a file is too large, or there is no `index.html`.
    pub(crate) fn read(folder: &Path, agents: &[&str]) -> io::Result<Self> {
        Ok(Self { files: read(folder)?.into_iter().map(|(name, bytes)| reply(&name, bytes, agents)).collect() })
    }

    /// A file by its name; the page itself by the empty name.
    pub(crate) fn get(&self, name: &str) -> Option<&Reply> {
        self.files.get(if name.is_empty() { "index.html" } else { name })
    }
}

/// The files of a folder by name.
fn read(folder: &Path) -> io::Result<BTreeMap<String, Bytes>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let metadata = entry.metadata()?;
        if !metadata.is_file() {
            continue;
        }
        if metadata.len() > LARGEST {
            return Err(io::Error::other(format!("{name} is larger than {} MB", LARGEST >> 20)));
        }
        files.insert(name, fs::read(entry.path())?.into());
    }
    if !files.contains_key("index.html") {
        return Err(io::Error::new(io::ErrorKind::NotFound, "there is no index.html"));
    }
    Ok(files)
}

/// A file's name and the answer with it.
fn reply(file: &str, bytes: Bytes, agents: &[&str]) -> (String, Reply) {
    let name = file.strip_suffix(COMPRESSED).unwrap_or(file);
    let content_type = type_of_file(name);
    let body = match std::str::from_utf8(&bytes) {
        Ok(text) if content_type == HTML => {
            with_agents(text, agents).replace(LINKS, r#"<a href="runs">Training runs</a>"#).into()
        }
        _ => bytes,
    };
    (name.to_owned(), Reply { gzip: name != file, ..Reply::found(content_type, body).tagged() })
}

/// The page with the games whose agents there are, so that it asks for no other.
fn with_agents(page: &str, agents: &[&str]) -> String {
    match page.split_once(AGENTS).and_then(|(before, rest)| Some((before, rest.split_once('"')?.1))) {
        Some((before, after)) => format!("{before}{AGENTS}{}\"{after}", agents.join(" ")),
        None => page.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_compiled_in() {
        let assets = Assets::built_in(&["mancala", "mine"]);
        let page = assets.get("").expect("a page");
        assert_eq!(page.content_type, HTML);
        let text = String::from_utf8_lossy(&page.body);
        assert!(text.contains(r#"<a href="runs">"#) && text.contains(r#"<body data-agents="mancala mine">"#), "{text}");
        let module = assets.get("turnstone.wasm").expect("the module");
        let manifest = assets.get("manifest.webmanifest").expect("a page that can be installed");
        assert_eq!(manifest.content_type, "application/manifest+json");
        assert!(module.gzip && module.content_type == "application/wasm" && module.body.starts_with(b"\x1f\x8b"));
        assert!(assets.get("sources.txt").is_none() && assets.get("../Cargo.toml").is_none());
    }

    #[test]
    fn the_first_load_is_small() {
        let assets = Assets::built_in(&["mancala", "mine"]);
        let all: usize = assets.files.values().map(|file| file.body.len()).sum();
        assert!(all < 1_500_000, "{all} bytes");
    }

    #[test]
    fn a_folder_needs_a_page() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Assets::read(folder.path(), &[]).is_err());
        fs::write(folder.path().join("index.html"), "<p>mine</p>").unwrap();
        fs::create_dir(folder.path().join("agents")).unwrap();
        let assets = Assets::read(folder.path(), &[]).unwrap();
        assert_eq!(&assets.get("").unwrap().body[..], b"<p>mine</p>");
    }
}

//! The runs folder: what it lists, and files that are certainly in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of folders in the list.
const MOST: usize = 2000;

/// Largest file that is sent.
pub(crate) const LARGEST: u64 = 256 << 20;

/// The folder of all runs.
#[derive(Clone, Debug)]
pub(crate) struct RunList {
    folder: PathBuf,
}

/// A folder in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Whether it is a run, by its config.
    pub(crate) is_run: bool,
    /// Whether it contains a report.
    pub(crate) has_report: bool,
    pub(crate) changed: Option<SystemTime>,
}

/// When and how large a file was; equal for a file that has not changed.
pub(crate) type Stamp = (u64, Option<SystemTime>);

impl RunList {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folders, by name. Empty if the folder of runs does not exist.
    pub(crate) fn entries(&self) -> io::Result<Vec<Entry>> {
        let listing = match fs::read_dir(&self.folder) {
            Ok(listing) => listing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        for entry in listing.flatten().take(MOST) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Some(path) = self.find(&name) else { continue };
            let is_run = path.join("config.toml").is_file();
            let has_report = path.join("report.html").is_file();
            if is_run || has_report {
                let changed = fs::metadata(path.join("metrics.jsonl")).or_else(|_| fs::metadata(&path));
                entries.push(Entry {
                    name,
                    is_run,
                    has_report,
                    changed: changed.and_then(|data| data.modified()).ok(),
                });
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The folder of this name, if it is listed and does not lead out of the folder of runs.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        let mut parts = Path::new(name).components();
        let single = matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(_)), None));
        if !single || name.starts_with('.') {
            return None;
        }
        let root = self.folder.canonicalize().ok()?;
        let path = root.join(name).canonicalize().ok()?;
        (path.starts_with(&root) && path != root && path.is_dir()).then_some(path)
    }

    /// The path of a file with a fixed name in a folder, if it is a plain file in the folder of runs.
    pub(crate) fn file(&self, name: &str, file: &'static str) -> Option<PathBuf> {
        let root = self.folder.canonicalize().ok()?;
        let path = self.find(name)?.join(file).canonicalize().ok()?;
        (path.starts_with(&root) && path.is_file()).then_some(path)
    }
}

/// Size and time of a file.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_in_listed_folders_are_found() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("latest.safetensors"), "secret").unwrap();
        fs::write(outside.path().join("config.toml"), "").unwrap();
        let root = tempfile::tempdir().unwrap();
        let run = root.path().join("run");
        fs::create_dir_all(run.join("latest.safetensors")).unwrap(); // a folder, no file
        fs::write(run.join("config.toml"), "").unwrap();
        fs::write(run.join("best.safetensors"), "weights").unwrap();
        fs::create_dir(root.path().join("notes")).unwrap();
        fs::create_dir(root.path().join(".hidden")).unwrap();
        fs::write(root.path().join(".hidden/config.toml"), "").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
            std::os::unix::fs::symlink(outside.path().join("latest.safetensors"), run.join("report.html")).unwrap();
        }
        let list = RunList::new(root.path().to_owned());
        let names: Vec<String> = list.entries().unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["run"]);
        assert!(list.file("run", "best.safetensors").is_some());
        for (name, file) in [
            ("run", "latest.safetensors"),
            ("run", "report.html"),
            ("link", "latest.safetensors"),
            ("..", "config.toml"),
            ("run/..", "x"),
            ("", "config.toml"),
            (".hidden", "config.toml"),
            ("/etc", "passwd"),
            ("nothing", "config.toml"),
        ] {
            assert_eq!(list.file(name, file), None, "{name}/{file}");
        }
        assert!(RunList::new(root.path().join("absent")).entries().unwrap().is_empty());
    }
}

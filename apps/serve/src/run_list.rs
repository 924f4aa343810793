//! The runs folder: what it lists, and files that are certainly in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use turnstone_trainer::sweep::MOST_VARIANTS;

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
        let mut names: Vec<String> = Vec::new();
        for entry in listing.flatten().take(MOST) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if self.file(&name, "sweep.toml").is_some() {
                names.extend((1..=MOST_VARIANTS).map(|number| format!("{name}/{number}")));
            }
            names.push(name);
        }
        for name in names {
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
        let place = |entry: &Entry| match sweep_run(&entry.name) {
            Some((sweep, number)) => (sweep.to_owned(), number),
            None => (entry.name.clone(), 0),
        };
        entries.sort_by_key(place);
        Ok(entries)
    }

    /// The folder of this name, or of a run of a sweep, if it is listed and does not lead out of the folder of runs.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        let (folder, number) = sweep_run(name).map_or((name, None), |(sweep, number)| (sweep, Some(number)));
        let mut parts = Path::new(folder).components();
        let single = matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(_)), None));
        if !single || name.starts_with('.') {
            return None;
        }
        let root = self.folder.canonicalize().ok()?;
        let path = root.join(folder);
        let path = number.map_or(path.clone(), |number| path.join(number.to_string())).canonicalize().ok()?;
        (path.starts_with(&root) && path != root && path.is_dir()).then_some(path)
    }

    /// The path of a file with a fixed name in a folder, if it is a plain file in the folder of runs.
    pub(crate) fn file(&self, name: &str, file: &'static str) -> Option<PathBuf> {
        let root = self.folder.canonicalize().ok()?;
        let path = self.find(name)?.join(file).canonicalize().ok()?;
        (path.starts_with(&root) && path.is_file()).then_some(path)
    }
}

/// The parts of the name of a run of a sweep, as `rates/2`.
pub(crate) fn sweep_run(name: &str) -> Option<(&str, usize)> {
    let (sweep, number) = name.split_once('/')?;
    let number = number.parse().ok().filter(|variant: &usize| *variant > 0 && variant.to_string() == number)?;
    Some((sweep, number))
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
        let names = || list.entries().unwrap().into_iter().map(|entry| entry.name).collect::<Vec<_>>();
        assert_eq!(names(), ["run"]);
        for number in ["1", "2", "10", "x"] {
            let variant = root.path().join("rates").join(number);
            fs::create_dir_all(&variant).unwrap();
            fs::write(variant.join("config.toml"), "").unwrap();
        }
        assert_eq!(names(), ["run"], "a folder that is no sweep");
        fs::write(root.path().join("rates/sweep.toml"), "").unwrap();
        assert_eq!(names(), ["rates/1", "rates/2", "rates/10", "run"]);
        assert!(list.file("rates/10", "config.toml").is_some());
        assert!(list.file("run", "best.safetensors").is_some());
        for (name, file) in [
            ("run", "latest.safetensors"),
            ("run", "report.html"),
            ("link", "latest.safetensors"),
            ("..", "config.toml"),
            ("run/..", "x"),
            ("rates/x", "config.toml"),
            ("rates/01", "config.toml"),
            ("rates/1/.", "config.toml"),
            ("../1", "config.toml"),
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

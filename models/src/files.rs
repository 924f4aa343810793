//! Atomic writing and bounded reading of files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum length of a file to read, far above that of any file of this crate.
pub(crate) const LONGEST_FILE: u64 = 1 << 31;

/// Writes `bytes` to `path` atomically: after a crash at any moment either the old or the new file exists, complete.
///
/// The bytes go to a temporary file in the same folder, which is synced and renamed over `path`; then the folder is
/// synced. On failure the temporary file is removed and an existing `path` is untouched.
///
/// # Errors
/// Any error of the file system, and [`io::ErrorKind::InvalidInput`] for a path without a file name.
pub fn atomic_write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a path of a file"))?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // Process and counter distinguish writers; `create_new` protects other files of that name.
    let unique = format!(".{}.{}.tmp", process_id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    let mut temporary_name = std::ffi::OsString::from(".");
    temporary_name.push(name);
    temporary_name.push(unique);
    let temporary = folder.join(temporary_name);

    let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    let written = write_synced(file, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary); // the first error is the one to report
    }
    written?;
    sync_folder(folder)
}

/// The process id, or 0 on bare WebAssembly, where [`std::process::id`] panics.
pub(crate) fn process_id() -> u32 {
    if cfg!(all(target_family = "wasm", target_os = "unknown")) { 0 } else { std::process::id() }
}

fn write_synced(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes a rename in this folder durable. Windows cannot open a folder as a file, and does not need it.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Reads a regular file of at most [`LONGEST_FILE`] bytes.
pub(crate) fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let invalid = |fault: &str| io::Error::new(io::ErrorKind::InvalidData, fault);
    // Checked before opening: opening a named pipe waits for its writer.
    if !fs::metadata(path)?.is_file() {
        return Err(invalid("is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_FILE { Err(invalid("is longer than 2 GiB")) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_files_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        atomic_write(&path, b"old").unwrap();
        atomic_write(&path, b"newer").unwrap();
        assert_eq!(read_whole(&path).unwrap(), b"newer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let occupied = folder.path().join("occupied");
        fs::create_dir_all(occupied.join("by a folder")).unwrap();
        assert!(atomic_write(&occupied, b"x").is_err());
        assert!(atomic_write(&folder.path().join("absent/a.bin"), b"x").is_err());
        assert!(atomic_write(Path::new("/"), b"x").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(read_whole(&occupied).unwrap_err().to_string().contains("not a regular file"));
    }
}

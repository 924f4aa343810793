//! Atomic writing and bounded reading of files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::machine::process_id;
use crate::text::plain;
use crate::warnings::warn_once;

/// Writes `bytes` to `path` atomically: after a crash at any moment either the old or the new file exists, complete.
///
/// The bytes go to a temporary file in the same folder, which is synced and renamed over `path`; then the folder is
/// synced. On failure the temporary file is removed and an existing `path` is untouched.
///
/// # Errors
/// Any error of the file system, and [`io::ErrorKind::InvalidInput`] for a path without a file name.
pub fn atomic_write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (folder, temporary) = temporary(path)?;
    confirm_replaceable(path)?;
    let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    let written = write_synced(file, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary); // the first error is the one to report
    }
    written?;
    sync_folder(folder)
}

/// Checks that [`atomic_write`] can write to `path`, before work whose result goes there: that its folder exists and takes
/// a file, and that the path is no folder and no device. Nothing is left behind.
///
/// # Errors
/// The errors of [`atomic_write`].
pub fn confirm_writable(path: &Path) -> io::Result<()> {
    let (_, temporary) = temporary(path)?;
    confirm_replaceable(path)?;
    OpenOptions::new().write(true).create_new(true).open(&temporary).map(|_file| ())?;
    fs::remove_file(&temporary)
}

/// Checks that there is nothing at `path` but a file, if anything: a device or a pipe would be replaced by a file.
fn confirm_replaceable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder")),
        Ok(about) if !about.is_file() => Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file")),
        _ => Ok(()),
    }
}

/// A path that a file in `folder` names: taken from there if it is relative, and made absolute.
#[must_use]
pub fn in_folder(folder: &Path, path: &Path) -> PathBuf {
    let joined = folder.join(path);
    std::path::absolute(&joined).unwrap_or(joined)
}

/// The folder of a path, and a temporary file in it that no other writer uses.
fn temporary(path: &Path) -> io::Result<(&Path, PathBuf)> {
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
    Ok((folder, folder.join(temporary_name)))
}

fn write_synced(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    sync(&file)
}

/// Writes a file's contents and length through to the disk. A file system that cannot do so is used without it, with one
/// warning per process.
///
/// # Errors
/// The file system can sync files, and failed.
pub fn sync(file: &File) -> io::Result<()> {
    without_support(file.sync_all(), "this file system cannot sync: a power failure may lose the last changes")
}

/// Makes the renames in a folder durable, where the file system can. Windows cannot open a folder as a file, and does not
/// need to.
///
/// # Errors
/// The folder cannot be opened, or syncing it failed on a file system that can.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if cfg!(unix) { sync(&File::open(folder)?) } else { Ok(()) }
}

/// Takes the error of a file system that lacks an operation (network and foreign file systems: SMB, NFS, sshfs) as success,
/// and prints `warning` the first time.
pub(crate) fn without_support(result: io::Result<()>, warning: &str) -> io::Result<()> {
    match result {
        Err(error) if is_unsupported(&error) => {
            warn_once(&format!("{warning} ({error})"));
            Ok(())
        }
        result => result,
    }
}

/// Whether an error of `fsync` or `flock` says that the file system lacks the operation, not that it failed.
#[cfg(unix)]
fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let lacking = [Errno::INVAL, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS, Errno::NOLCK];
    Errno::from_io_error(error).is_some_and(|error| lacking.contains(&error))
}

#[cfg(not(unix))]
fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// Opens a regular file of at most `longest` bytes and returns its length.
///
/// # Errors
/// Any error of the file system, and [`io::ErrorKind::InvalidData`] for a folder, pipe or device and for a longer file.
/// Nothing is read before that is known.
pub fn open_bounded(path: &Path, longest: u64) -> io::Result<(File, u64)> {
    let invalid = |fault: String| io::Error::new(io::ErrorKind::InvalidData, fault);
    // Checked before opening: opening a named pipe waits for its writer.
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(invalid("is not a regular file".into()));
    }
    if about.len() > longest {
        return Err(invalid(format!("is {} bytes long, and at most {longest} are read", about.len())));
    }
    Ok((File::open(path)?, about.len()))
}

/// Reads a regular file of at most `longest` bytes.
///
/// # Errors
/// As [`open_bounded`].
pub fn read_bounded(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open_bounded(path, longest)?;
    let mut bytes = Vec::with_capacity(length as usize);
    // The file may grow meanwhile.
    file.take(longest).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file of at most `longest` bytes as text, without a byte-order mark and with `\n` as line break.
///
/// # Errors
/// As [`open_bounded`], and [`io::ErrorKind::InvalidData`] for bytes that are not UTF-8.
pub fn read_text(path: &Path, longest: u64) -> io::Result<String> {
    let text = String::from_utf8(read_bounded(path, longest)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is not text in UTF-8"))?;
    Ok(plain(&text).into_owned())
}

/// Removes from a folder the temporary files that interrupted writes of this program have left. Another process that
/// writes in the folder would lose its file, so the caller holds the folder's lock or knows that nothing else writes.
///
/// # Errors
/// The folder cannot be read or a file not be removed; the message names it.
pub fn remove_unfinished(folder: &Path) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(()); // it is missing, or reported by its reader
    }
    let named = |path: &Path, error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    for entry in fs::read_dir(folder).map_err(|error| named(folder, error))? {
        let path = entry.map_err(|error| named(folder, error))?.path();
        if is_unfinished(&path) {
            fs::remove_file(&path).map_err(|error| named(&path, error))?;
        }
    }
    Ok(())
}

/// Whether this is a temporary file that an interrupted write of this program has left: `.NAME.PROCESS.NUMBER.tmp` of
/// [`atomic_write`].
#[must_use]
pub fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let inner = name.and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
    inner.is_some_and(|inner| {
        let parts: Vec<&str> = inner.rsplitn(3, '.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        parts.len() == 3 && parts[..2].iter().all(is_number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_our_naming_are_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let ours = [".a.bin.17.0.tmp", ".state.safetensors.99.12.tmp"];
        let others = [".mine.tmp", ".4711.tmp", ".a.bin.17.x.tmp", "a.17.0.tmp", ".17.0", ".tmp", ".a..0.tmp"];
        for name in ours.iter().chain(&others) {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        remove_unfinished(folder.path()).unwrap();
        let left = |name: &&str| folder.path().join(name).exists();
        assert!(!ours.iter().any(&left) && others.iter().all(left));
        remove_unfinished(&folder.path().join("absent")).unwrap();
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("old"), "old").unwrap();
        confirm_writable(&path("new")).unwrap();
        confirm_writable(&path("old")).unwrap();
        assert_eq!(confirm_writable(&path("none/new")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(confirm_writable(&path("old/new")).is_err());
        assert_eq!(confirm_writable(folder.path()).unwrap_err().to_string(), "is a folder");
        assert!(confirm_writable(Path::new("/")).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read(path("old")).unwrap(), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_not_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        for refused in [confirm_writable(&path), atomic_write(&path, b"x")] {
            assert_eq!(refused.unwrap_err().to_string(), "is not a regular file");
        }
        assert!(fs::metadata(&path).unwrap().file_type().is_socket());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn replaces_whole_files_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        atomic_write(&path, b"old").unwrap();
        atomic_write(&path, b"newer").unwrap();
        assert_eq!(read_bounded(&path, 5).unwrap(), b"newer");
        let fault = read_bounded(&path, 4).unwrap_err().to_string();
        assert_eq!(fault, "is 5 bytes long, and at most 4 are read");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_what_a_file_system_lacks_is_tolerated() {
        let outcome = |code| without_support(Err(io::Error::from_raw_os_error(code)), "no sync").map_err(|e| e.kind());
        // EINVAL, ENOLCK, ENOSYS, EOPNOTSUPP; EIO, ENOSPC, EDQUOT.
        assert_eq!([22, 37, 38, 95].map(outcome), [Ok(()); 4]);
        assert!([5, 28, 122].map(outcome).iter().all(Result::is_err));
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
        assert!(read_bounded(&occupied, 1).unwrap_err().to_string().contains("not a regular file"));
    }
}

//! One process at a time writes in a folder, and only as long as the folder is the one it began in.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The name of the file that is locked. It stays when the work ends; only the operating system's lock on it counts, and
/// that one ends with the process, however it ends.
pub(crate) const NAME: &str = "lock";

/// A folder taken for this process.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the folder.
    ///
    /// # Errors
    /// Another process has it, or the file cannot be written.
    pub(crate) fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .with_context(|| path.display().to_string())?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&path).ok().filter(|text| !text.is_empty());
                let holder = holder.map(|id| format!(" {id}")).unwrap_or_default();
                bail!(
                    "folder {} is in use: process{holder} is writing in it; wait for it or stop it first",
                    folder.display()
                );
            }
            // A file system without locks: two processes are then kept apart by whoever starts them.
            Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(e)) => return Err(e).with_context(|| path.display().to_string()),
        }
        // For the message above and nothing else, so a full disk does not matter.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self { file, path })
    }

    /// Whether the folder still is the one that was taken: neither removed nor replaced by another.
    pub(crate) fn holds(&self) -> bool {
        match (self.file.metadata(), fs::metadata(&self.path)) {
            (Ok(taken), Ok(there)) => same_file(&taken, &there),
            _ => false,
        }
    }
}

#[cfg(unix)]
fn same_file(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere a folder with an open file in it cannot be removed.
#[cfg(not(unix))]
fn same_file(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

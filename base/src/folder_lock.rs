//! An exclusive lock on a folder, for processes that write in it.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::without_support;
use crate::machine::process_id;

/// Name of the locked file in the folder. The file stays after the lock is released. Only the lock of the operating
/// system counts, which ends with the process.
pub const LOCK_FILE: &str = "lock";

/// Longer than [`FolderLock::is_taken`] holds a lock.
const LOOK: Duration = Duration::from_millis(20);

/// A folder that is locked for this process. The lock is released when the value is dropped.
///
/// ```
/// use turnstone_base::folder_lock::FolderLock;
///
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let lock = FolderLock::take(folder)?;
/// assert!(lock.holds());
/// assert!(FolderLock::take(folder).unwrap_err().to_string().contains("is in use"));
/// drop(lock);
/// FolderLock::take(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FolderLock {
    file: File,
    path: PathBuf,
}

impl FolderLock {
    /// Locks an existing folder. On file systems without locks it succeeds without one,
    /// with a warning.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if another process has locked the folder, with its process id in the message; any
    /// other error of the file system with the path of the lock file.
    pub fn take(folder: &Path) -> io::Result<Self> {
        let path = folder.join(LOCK_FILE);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut file = File::options().create(true).truncate(false).write(true).open(&path).map_err(named)?;
        let mut locked = file.try_lock();
        if matches!(locked, Err(TryLockError::WouldBlock)) {
            // A look at the lock (`is_taken`) holds it for an instant.
            std::thread::sleep(LOOK);
            locked = file.try_lock();
        }
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&path).ok().filter(|text| !text.is_empty());
                let holder = holder.map(|id| format!(" {id}")).unwrap_or_default();
                let folder = folder.display();
                let message = format!(
                    "folder {folder} is in use: process{holder} is writing in it; wait for it or stop it first"
                );
                return Err(io::Error::new(ErrorKind::WouldBlock, message));
            }
            Err(TryLockError::Error(error)) => {
                without_support(Err(error), "this file system has no locks: let no other process write in the folder")
                    .map_err(named)?;
            }
        }
        // Used in the message above only, so errors do not matter.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", process_id()));
        Ok(Self { file, path })
    }

    /// Whether a process has locked the folder, without locking it; `None` where that cannot be told.
    #[must_use]
    pub fn is_taken(folder: &Path) -> Option<bool> {
        let file = match File::open(folder.join(LOCK_FILE)) {
            Ok(file) => file,
            Err(error) => return (error.kind() == ErrorKind::NotFound).then_some(false),
        };
        match file.try_lock_shared() {
            Ok(()) => Some(false),
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        }
    }

    /// Whether the folder is still the one that was locked: neither removed nor replaced.
    #[must_use]
    pub fn holds(&self) -> bool {
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

/// On other systems a folder with an open file cannot be removed.
#[cfg(not(unix))]
fn same_file(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_folder_is_refused_and_its_holder_named() {
        let folder = tempfile::tempdir().unwrap();
        let lock = FolderLock::take(folder.path()).unwrap();
        let error = FolderLock::take(folder.path()).unwrap_err();
        // Windows does not let others read a locked file.
        let id = if cfg!(unix) { format!(" {}", std::process::id()) } else { String::new() };
        let path = folder.path().display();
        let message = format!("folder {path} is in use: process{id} is writing in it; wait for it or stop it first");
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::WouldBlock, message));
        assert_eq!(FolderLock::is_taken(folder.path()), Some(true));
        drop(lock);
        assert_eq!(FolderLock::is_taken(folder.path()), Some(false));
        assert!(FolderLock::take(folder.path()).unwrap().holds());
    }

    #[test]
    fn errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent");
        let error = FolderLock::take(&absent).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().starts_with(&format!("{}: ", absent.join(LOCK_FILE).display())), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_folder_is_noticed() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, moved) = (parent.path().join("run"), parent.path().join("moved"));
        fs::create_dir(&folder).unwrap();
        let lock = FolderLock::take(&folder).unwrap();
        assert!(lock.holds());
        fs::rename(&folder, &moved).unwrap();
        assert!(!lock.holds());
        fs::create_dir(&folder).unwrap();
        let other = FolderLock::take(&folder).unwrap();
        assert!(other.holds() && !lock.holds());
    }
}

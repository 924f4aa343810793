//! Files of one input, for readers that take a path.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

thread_local! {
    static FOLDER: OnceCell<TempDir> = const { OnceCell::new() };
}

/// A folder of this thread.
pub(crate) fn folder() -> PathBuf {
    FOLDER.with(|folder| folder.get_or_init(|| tempfile::tempdir().expect("a temporary folder")).path().to_owned())
}

/// Writes the bytes to a file of this name in [`folder`].
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    write(&path, bytes);
    path
}

pub(crate) fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("the temporary folder is writable");
}

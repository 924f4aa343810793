//! The folder of an export: it is not replaced without `--overwrite`, and the old or the new one is there at every moment.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use turnstone_base::files::atomic_write;

/// What to do about an export that exists already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// Keep it and fail.
    Keep,
    /// Replace it.
    Replace,
}

/// Creates the folder `path` with the files that `fill` writes into it. An existing folder is replaced only if
/// `is_ours` returns true for it, in one step where the system can exchange two folders.
///
/// # Errors
/// `path` exists and may not be replaced, or a file cannot be written. An existing folder is then unchanged.
pub(super) fn folder(
    path: &Path,
    is_ours: impl FnOnce(&Path) -> bool,
    existing: Existing,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let occupied = fs::symlink_metadata(path).is_ok();
    if occupied && existing == Existing::Keep {
        bail!("{} exists already: give --overwrite to replace it", path.display());
    }
    if occupied && !is_ours(path) {
        bail!("{} holds no export of this format, so it is not overwritten", path.display());
    }
    let (new, old) = (beside(path, "new")?, beside(path, "old")?);
    let named = || path.display().to_string();
    if new.exists() {
        fs::remove_dir_all(&new).with_context(named)?; // of a killed process with the same number
    }
    fs::create_dir(&new).with_context(named)?;
    let made = fill(&new)
        .and_then(|()| if occupied { replace(path, &new, &old) } else { fs::rename(&new, path) }.with_context(named));
    // The new name is now that of the old folder, or of what could not be finished.
    let cleared = if new.exists() { fs::remove_dir_all(&new) } else { Ok(()) };
    made?;
    cleared.with_context(|| new.display().to_string())
}

pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    atomic_write(path, bytes).with_context(|| path.display().to_string())
}

/// Puts the folder `new` in the place of `path`, and what stood there in the place of `new`.
fn replace(path: &Path, new: &Path, old: &Path) -> io::Result<()> {
    if exchange(path, new) { Ok(()) } else { replace_by_renames(path, new, old) }
}

/// [`replace`] where two folders cannot be exchanged. Between two renames there is nothing at `path`: what stood there has
/// the name `old`.
fn replace_by_renames(path: &Path, new: &Path, old: &Path) -> io::Result<()> {
    fs::rename(path, old)?;
    if let Err(error) = fs::rename(new, path) {
        let _ = fs::rename(old, path); // the first error is the one to report
        return Err(error);
    }
    fs::rename(old, new)
}

/// Exchanges two paths in one step, if the system and its file system can.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> bool {
    false
}

/// A hidden path in the same folder, unique to this process.
fn beside(path: &Path, part: &str) -> Result<PathBuf> {
    let name = path.file_name().with_context(|| format!("{} names no folder", path.display()))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.{part}.tmp", std::process::id()));
    Ok(path.with_file_name(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "mark";

    fn is_ours(path: &Path) -> bool {
        path.join(MARK).is_file()
    }

    fn write(path: &Path, existing: Existing, text: &str) -> Result<()> {
        folder(path, is_ours, existing, |new| Ok(fs::write(new.join(MARK), text)?))
    }

    #[test]
    fn a_folder_is_replaced_whole_and_only_if_it_is_one_of_ours() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("export");
        let read = || fs::read_to_string(path.join(MARK)).expect("it is there");
        write(&path, Existing::Keep, "first").expect("the place is free");
        let refused = write(&path, Existing::Keep, "second").expect_err("it exists").to_string();
        assert!(refused.contains("exists already"), "{refused}");
        fs::write(path.join("left"), "over").expect("it is writable");
        write(&path, Existing::Replace, "third").expect("it may be replaced");
        assert_eq!(read(), "third");
        assert!(!path.join("left").exists());

        let fault = folder(&path, is_ours, Existing::Replace, |_| bail!("no")).expect_err("a fault");
        assert_eq!((fault.to_string().as_str(), read().as_str()), ("no", "third"));
        let other = place.path().join("other");
        fs::create_dir(&other).expect("the place is free");
        let refused = write(&other, Existing::Replace, "x").expect_err("no folder of ours").to_string();
        assert!(refused.contains("holds no export of this format"), "{refused}");
        assert_eq!(fs::read_dir(place.path()).expect("it is readable").count(), 2, "nothing is left behind");
    }

    #[test]
    fn folders_change_places_with_and_without_an_exchange() {
        let place = tempfile::tempdir().expect("a folder");
        let [path, new, old] = ["path", "new", "old"].map(|name| place.path().join(name));
        let read = || [&path, &new].map(|folder| fs::read_to_string(folder.join(MARK)).expect("it is there"));
        for (folder, text) in [(&path, "first"), (&new, "second")] {
            fs::create_dir(folder).expect("writable");
            fs::write(folder.join(MARK), text).expect("writable");
        }
        replace(&path, &new, &old).expect("they change places");
        assert_eq!(read(), ["second", "first"]);
        replace_by_renames(&path, &new, &old).expect("they change places");
        assert_eq!(read(), ["first", "second"]);
        fs::remove_dir_all(&new).expect("writable");
        assert!(replace_by_renames(&path, &new, &old).is_err());
        assert_eq!(fs::read_to_string(path.join(MARK)).expect("it is back"), "first");
        assert!(!old.exists());
    }
}

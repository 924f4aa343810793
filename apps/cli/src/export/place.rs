//! Output paths of exports: nothing is replaced without `--overwrite`, and what is replaced is there, the old or the new
//! one, at every moment.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// What to do about an export that exists already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// Keep it and fail.
    Keep,
    /// Replace it.
    Replace,
}

/// Checks that a file may be written to `path`.
pub(super) fn free(path: &Path, existing: Existing) -> Result<()> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if found.is_dir() {
        bail!("{} is a folder", path.display());
    }
    match existing {
        Existing::Keep => bail!("{} exists already: give --overwrite to replace it", path.display()),
        Existing::Replace => Ok(()),
    }
}

/// Creates the folder `path` with the files that `fill` writes into it. An existing folder is replaced only if
/// `is_ours` returns true for it, in one step where the system can exchange two folders.
///
/// # Errors
/// `path` exists and may not be replaced, or a file cannot be written. An existing folder is then unchanged.
pub(super) fn folder<T>(
    path: &Path,
    is_ours: impl FnOnce(&Path) -> bool,
    existing: Existing,
    fill: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
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
    let made = fill(&new).and_then(|made| {
        if occupied { replace(path, &new, &old) } else { fs::rename(&new, path) }.with_context(named)?;
        Ok(made)
    });
    // The new name is now that of the old folder, or of what could not be finished.
    let cleared = if new.exists() { fs::remove_dir_all(&new) } else { Ok(()) };
    let made = made?;
    cleared.with_context(|| new.display().to_string())?;
    Ok(made)
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

/// Writes a file and the description beside it, both or neither. After a crash at any moment the old or the new file is
/// there, and a description never stands beside another file than the one that it describes.
///
/// # Errors
/// A file cannot be written; what stood there is then unchanged.
pub(super) fn with_sidecar(file: (&Path, &[u8]), sidecar: (&Path, &[u8])) -> Result<()> {
    let (new_file, new_sidecar) = (beside(file.0, "new")?, beside(sidecar.0, "new")?);
    let (old_file, old_sidecar) = (beside(file.0, "old")?, beside(sidecar.0, "old")?);
    let stage = |path: &Path, shown: &Path, bytes: &[u8]| -> Result<()> {
        let written = fs::File::create(path).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.with_context(|| shown.display().to_string())
    };
    let there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let staged = stage(&new_file, file.0, file.1).and_then(|()| stage(&new_sidecar, sidecar.0, sidecar.1));
    let made = staged.and_then(|()| {
        let (named_file, named_sidecar) = (|| file.0.display().to_string(), || sidecar.0.display().to_string());
        let (had_file, had_sidecar) = (there(file.0), there(sidecar.0));
        let mut undo = Undo(Vec::new());
        if had_sidecar {
            fs::rename(sidecar.0, &old_sidecar).with_context(named_sidecar)?;
            undo.0.push((Some(&*old_sidecar), sidecar.0));
        }
        if had_file {
            second_name(file.0, &old_file).with_context(named_file)?;
        }
        fs::rename(&new_file, file.0).with_context(named_file)?;
        undo.0.push((had_file.then_some(&*old_file), file.0));
        fs::rename(&new_sidecar, sidecar.0).with_context(named_sidecar)?;
        undo.0.clear();
        Ok(())
    });
    for path in [new_file, new_sidecar, old_file, old_sidecar] {
        let _ = fs::remove_file(path); // the first error is the one to report, and most are not there
    }
    made
}

/// Places to fill again, the last first, from where their files have gone; places without were empty.
struct Undo<'a>(Vec<(Option<&'a Path>, &'a Path)>);

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        for (kept, place) in self.0.iter().rev() {
            // The first error is the one to report.
            let _ = kept.map_or_else(|| fs::remove_file(place), |kept| fs::rename(kept, place));
        }
    }
}

/// Gives a file a second name, or copies it where the file system has no such names.
fn second_name(file: &Path, name: &Path) -> io::Result<()> {
    let _ = fs::remove_file(name); // of a killed process with the same number
    fs::hard_link(file, name).or_else(|_| fs::copy(file, name).map(drop))
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
    fn a_file_and_its_sidecar_come_together() {
        let place = tempfile::tempdir().expect("a folder");
        let [file, sidecar] = ["a.onnx", "a.json"].map(|name| place.path().join(name));
        let read = || [&file, &sidecar].map(|path| fs::read_to_string(path).unwrap_or_default());
        let names = || fs::read_dir(place.path()).expect("readable").count();
        let write = |text: &str| with_sidecar((&file, text.as_bytes()), (&sidecar, text.as_bytes()));
        // The sidecar's place is taken by what cannot be replaced, in each of the steps.
        let blocked = beside(&sidecar, "new").expect("a name");
        for at in [&blocked, &sidecar] {
            fs::create_dir_all(at.join("by a folder")).expect("writable");
            fs::create_dir_all(beside(&sidecar, "old").expect("a name").join("too")).expect("writable");
            assert!(write("new").is_err());
            assert!(!file.exists(), "nothing is left of a failure");
            fs::remove_dir_all(at).expect("writable");
            fs::remove_dir_all(beside(&sidecar, "old").expect("a name")).expect("writable");
            assert_eq!(names(), 0);
        }
        write("first").expect("the place is free");
        fs::create_dir(&blocked).expect("writable");
        assert!(write("second").is_err());
        fs::remove_dir(&blocked).expect("writable");
        assert_eq!((read(), names()), (["first".to_owned(), "first".to_owned()], 2));
        write("third").expect("it is replaced");
        assert_eq!((read(), names()), (["third".to_owned(), "third".to_owned()], 2));
    }

    #[test]
    fn a_folder_is_replaced_whole_and_only_if_it_is_one_of_ours() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("bundle");
        let read = || fs::read_to_string(path.join(MARK)).expect("it is there");
        write(&path, Existing::Keep, "first").expect("the place is free");
        let refused = write(&path, Existing::Keep, "second").expect_err("it exists").to_string();
        assert!(refused.contains("exists already"), "{refused}");
        fs::write(path.join("left"), "over").expect("it is writable");
        write(&path, Existing::Replace, "third").expect("it may be replaced");
        assert_eq!(read(), "third");
        assert!(!path.join("left").exists());

        let fault = folder(&path, is_ours, Existing::Replace, |_| -> Result<()> { bail!("no") }).expect_err("a fault");
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

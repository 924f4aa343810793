//! The leader's folder: the name of the run, and for each job a journal of its outcomes, from which the next leader continues
//! after a kill. A message is acknowledged to the server only after it is in the journal.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use turnstone_base::files::{atomic_write, read_bounded, read_text, sync};

use crate::messages::is_name;
use crate::wire::{Malformed, Reader, hex, unhex};

/// Maximum length of a journal to read.
const LONGEST: u64 = 1 << 36;

/// Journal of the outcomes of a job.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
}

/// The number of an item, and its outcome.
type Outcome = (u32, Vec<u8>);

impl Journal {
    /// Opens the journal of a job in a folder and returns the outcomes in it. What a crash has left incomplete at its end is
    /// cut.
    pub(super) fn open(folder: &Path, job: &[u8; 32]) -> Result<(Self, Vec<Outcome>)> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let path = path(folder, job);
        let named = || path.display().to_string();
        let bytes = if path.exists() { read_bounded(&path, LONGEST).with_context(named)? } else { Vec::new() };
        let (outcomes, whole) = read(&bytes);
        let mut file = File::options().create(true).truncate(false).write(true).open(&path).with_context(named)?;
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).with_context(named)?;
        Ok((Self { path, file, buffer: Vec::new() }, outcomes))
    }

    /// Adds an outcome, which [`Self::sync`] writes.
    pub(super) fn add(&mut self, number: u32, item: &[u8]) {
        let start = self.buffer.len();
        self.buffer.extend((item.len() as u32).to_le_bytes());
        self.buffer.extend(number.to_le_bytes());
        self.buffer.extend_from_slice(item);
        let checksum = crc32fast::hash(&self.buffer[start..]);
        self.buffer.extend(checksum.to_le_bytes());
    }

    /// Writes what was added to disk.
    pub(super) fn sync(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let written = self.file.write_all(&self.buffer).and_then(|()| sync(&self.file));
        self.buffer.clear();
        written.with_context(|| format!("writing {}", self.path.display()))
    }
}

/// Removes all journals of a folder but those of some jobs, and returns the jobs of those that it removed.
pub(super) fn remove_others(folder: &Path, kept: &[[u8; 32]]) -> io::Result<Vec<[u8; 32]>> {
    let kept: Vec<PathBuf> = kept.iter().map(|job| path(folder, job)).collect();
    let mut removed = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?.path();
        if entry.extension().is_some_and(|extension| extension == "items") && !kept.contains(&entry) {
            removed.extend(entry.file_stem().and_then(|stem| unhex(stem.to_str()?)));
            fs::remove_file(entry)?;
        }
    }
    Ok(removed)
}

/// Whether there is a journal of a job.
pub(super) fn exists(folder: &Path, job: &[u8; 32]) -> bool {
    path(folder, job).exists()
}

fn path(folder: &Path, job: &[u8; 32]) -> PathBuf {
    folder.join(format!("{}.items", hex(job)))
}

/// Reads the complete records and the number of their bytes.
fn read(bytes: &[u8]) -> (Vec<Outcome>, usize) {
    let (mut outcomes, mut reader, mut whole) = (Vec::new(), Reader(bytes), 0);
    while let Ok(outcome) = record(&mut reader) {
        whole = bytes.len() - reader.0.len();
        outcomes.push(outcome);
    }
    (outcomes, whole)
}

fn record(reader: &mut Reader<'_>) -> Result<Outcome, Malformed> {
    let start = reader.0;
    let (length, number) = (reader.u32()? as usize, reader.u32()?);
    let item = reader.bytes(length)?.to_vec();
    let covered = &start[..start.len() - reader.0.len()];
    if reader.u32()? != crc32fast::hash(covered) {
        return Err(Malformed::new("a record is damaged"));
    }
    Ok((number, item))
}

/// Returns the name of the run in a folder, and whether it is new: a folder without a name gets one.
pub(super) fn run_name(folder: &Path, game: &str) -> Result<(String, bool)> {
    let path = folder.join("run");
    if path.exists() {
        let name = read_text(&path, 1000).with_context(|| path.display().to_string())?;
        if is_name(name.trim()) {
            return Ok((name.trim().to_owned(), false));
        }
    }
    let game: String = game.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    let name = format!("{game}-{}", hex(&rand::random::<[u8; 4]>()));
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    atomic_write(&path, name.as_bytes()).with_context(|| path.display().to_string())?;
    Ok((name, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_read_up_to_what_a_crash_left() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let outcome = |number: u32| (number, vec![7; number as usize]);
        let job = [5; 32];
        let (mut journal, none) = Journal::open(folder.path(), &job).expect("a new journal");
        assert!(none.is_empty() && exists(folder.path(), &job));
        [3, 4, 5].into_iter().for_each(|number| journal.add(number, &outcome(number).1));
        journal.sync().expect("written");
        drop(journal);
        let path = path(folder.path(), &job);
        let whole = fs::read(&path).expect("written");
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).expect("writable");
            let (_, found) = Journal::open(folder.path(), &job).expect("a cut journal");
            // A record has 12 bytes besides the item.
            let complete = [15, 15 + 16, 15 + 16 + 17].iter().filter(|&&end| end <= cut).count();
            assert_eq!(found.len(), complete, "cut at {cut}");
        }
        let mut damaged = whole.clone();
        damaged[25] ^= 1;
        fs::write(&path, &damaged).expect("writable");
        let (mut journal, found) = Journal::open(folder.path(), &job).expect("a damaged journal");
        assert_eq!(found, [outcome(3)]);
        journal.add(6, &outcome(6).1);
        journal.sync().expect("written");
        let (_, found) = Journal::open(folder.path(), &job).expect("sound");
        assert_eq!(found, [outcome(3), outcome(6)]);
        Journal::open(folder.path(), &[6; 32]).expect("another");
        assert_eq!(remove_others(folder.path(), &[[6; 32]]).expect("removed"), [job]);
        assert!(!exists(folder.path(), &job) && exists(folder.path(), &[6; 32]));
    }

    #[test]
    fn a_run_keeps_its_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let within = folder.path().join("cluster");
        let (name, is_new) = run_name(&within, "mu_torere").expect("a new name");
        assert!(is_new && name.starts_with("mutorere-") && is_name(&name), "{name}");
        assert_eq!(run_name(&within, "mu_torere").expect("the same"), (name, false));
        std::fs::write(within.join("run"), "a b").expect("writable");
        assert!(is_name(&run_name(&within, "mu_torere").expect("a new name").0));
        let (long, _) = run_name(&folder.path().join("long"), &"g".repeat(1000)).expect("a new name");
        assert!(is_name(&long), "{long}");
    }
}

//! The leader's folder: the name of the run, and for each job a journal of its outcomes, from which the next leader continues
//! after a kill. A message is acknowledged to the server only after it is in the journal.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use turnstone_base::files::{atomic_write, read_bounded, read_text, sync};

use crate::identity::{Key, random};
use crate::messages::{LONGEST_ITEM, ONCE, is_name};
use crate::wire::{Malformed, Reader, hex, unhex};

/// Maximum length of a journal to read.
const LONGEST: u64 = 1 << 36;
/// Number of a record that takes back all outcomes of a worker.
const REVOKED: u32 = u32::MAX;
/// Number of a record that says that a worker has passed a check.
const PASSED: u32 = u32::MAX - 1;

/// Journal of the outcomes of a job.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
}

/// An outcome and the worker that it came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Outcome {
    pub(super) number: u32,
    pub(super) key: Key,
    pub(super) item: Vec<u8>,
}

impl Journal {
    /// Opens the journal of a job in a folder and returns the outcomes in it, and the workers that have passed checks, once
    /// for each. What a crash has left incomplete at its end is cut.
    pub(super) fn open(folder: &Path, job: &[u8; 32]) -> Result<(Self, Vec<Outcome>, Vec<Key>)> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let path = path(folder, job);
        let named = || path.display().to_string();
        let bytes = if path.exists() { read_bounded(&path, LONGEST).with_context(named)? } else { Vec::new() };
        let (outcomes, passed, whole) = read(&bytes);
        let mut file = File::options().create(true).truncate(false).write(true).open(&path).with_context(named)?;
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).with_context(named)?;
        Ok((Self { path, file, buffer: Vec::new() }, outcomes, passed))
    }

    /// Adds an outcome, which [`Self::sync`] writes.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        let start = self.buffer.len();
        self.buffer.extend((outcome.item.len() as u32).to_le_bytes());
        self.buffer.extend(outcome.number.to_le_bytes());
        self.buffer.extend(outcome.key);
        self.buffer.extend_from_slice(&outcome.item);
        let checksum = crc32fast::hash(&self.buffer[start..]);
        self.buffer.extend(checksum.to_le_bytes());
    }

    /// Takes back all outcomes of a worker so far.
    pub(super) fn revoke(&mut self, key: Key) {
        self.add(&Outcome { number: REVOKED, key, item: Vec::new() });
    }

    /// Notes that a worker has passed a check.
    pub(super) fn pass(&mut self, key: Key) {
        self.add(&Outcome { number: PASSED, key, item: Vec::new() });
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
fn read(bytes: &[u8]) -> (Vec<Outcome>, Vec<Key>, usize) {
    let (mut outcomes, mut passed): (Vec<Outcome>, Vec<Key>) = (Vec::new(), Vec::new());
    let mut reader = Reader(bytes);
    let mut whole = 0;
    while let Ok(outcome) = record(&mut reader) {
        whole = bytes.len() - reader.0.len();
        match outcome.number {
            REVOKED => {
                outcomes.retain(|earlier| earlier.key != outcome.key);
                passed.retain(|key| *key != outcome.key);
            }
            PASSED => passed.push(outcome.key),
            _ => outcomes.push(outcome),
        }
    }
    (outcomes, passed, whole)
}

fn record(reader: &mut Reader<'_>) -> Result<Outcome, Malformed> {
    let start = reader.0;
    let (length, number, key) = (reader.u32()? as usize, reader.u32()?, reader.array()?);
    if length > LONGEST_ITEM {
        return Err(Malformed::new("a record is too long"));
    }
    let item = reader.bytes(length)?.to_vec();
    let covered = &start[..start.len() - reader.0.len()];
    if reader.u32()? != crc32fast::hash(covered) {
        return Err(Malformed::new("a record is damaged"));
    }
    Ok(Outcome { number, key, item })
}

/// Returns the name of the run in a folder, and whether it is new: a folder without a name gets one. The name tells whether the
/// run ends with its leader.
pub(super) fn run_name(folder: &Path, game: &str, ends_with_leader: bool) -> Result<(String, bool)> {
    let path = folder.join("run");
    if path.exists() {
        let name = read_text(&path, 1000).with_context(|| path.display().to_string())?;
        if is_name(name.trim()) {
            return Ok((name.trim().to_owned(), false));
        }
    }
    let game: String = game.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    let end = if ends_with_leader { ONCE } else { "" };
    let name = format!("{game}-{}{end}", hex(&random::<4>()?));
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    atomic_write(&path, name.as_bytes()).with_context(|| path.display().to_string())?;
    Ok((name, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::is_once;

    #[test]
    fn a_journal_is_read_up_to_what_a_crash_left() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let outcome = |number: u32, key: u8| Outcome { number, key: [key; 32], item: vec![key; number as usize] };
        let job = [5; 32];
        let (mut journal, none, _) = Journal::open(folder.path(), &job).expect("a new journal");
        assert!(none.is_empty() && exists(folder.path(), &job));
        for (number, key) in [(3, 1), (4, 2), (5, 1)] {
            journal.add(&outcome(number, key));
        }
        journal.sync().expect("written");
        drop(journal);
        let path = path(folder.path(), &job);
        let whole = fs::read(&path).expect("written");
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).expect("writable");
            let (_, found, _) = Journal::open(folder.path(), &job).expect("a cut journal");
            // A record has 44 bytes besides the item.
            let complete = [47, 47 + 48, 47 + 48 + 49].iter().filter(|&&end| end <= cut).count();
            assert_eq!(found.len(), complete, "cut at {cut}");
        }
        let mut damaged = whole.clone();
        damaged[60] ^= 1;
        fs::write(&path, &damaged).expect("writable");
        let (mut journal, found, _) = Journal::open(folder.path(), &job).expect("a damaged journal");
        assert_eq!(found, [outcome(3, 1)]);
        journal.add(&outcome(6, 2));
        [1, 2, 2].into_iter().for_each(|key| journal.pass([key; 32]));
        journal.revoke([1; 32]);
        journal.add(&outcome(7, 1));
        journal.sync().expect("written");
        let (_, found, passed) = Journal::open(folder.path(), &job).expect("sound");
        assert_eq!(passed, [[2; 32], [2; 32]]);
        assert_eq!(found, [outcome(6, 2), outcome(7, 1)], "what came before is taken back, not what comes after");
        Journal::open(folder.path(), &[6; 32]).expect("another");
        assert_eq!(remove_others(folder.path(), &[[6; 32]]).expect("removed"), [job]);
        assert!(!exists(folder.path(), &job) && exists(folder.path(), &[6; 32]));
    }

    #[test]
    fn a_run_keeps_its_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let within = folder.path().join("cluster");
        let (name, is_new) = run_name(&within, "mu_torere", false).expect("a new name");
        assert!(is_new && name.starts_with("mutorere-") && is_name(&name) && !is_once(&name), "{name}");
        assert_eq!(run_name(&within, "mu_torere", false).expect("the same"), (name, false));
        std::fs::write(within.join("run"), "a b").expect("writable");
        assert!(is_name(&run_name(&within, "mu_torere", false).expect("a new name").0));
        let longest = "g".repeat(1000);
        let (once, _) = run_name(&folder.path().join("once"), &longest, true).expect("a new name");
        assert!(is_once(&once) && is_name(&once), "{once}");
    }
}

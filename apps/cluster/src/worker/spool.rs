//! Finished ranges on disk until the server has acknowledged them, so that neither an unreachable server nor the end of the
//! worker loses them.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use turnstone_base::files::{atomic_write, read_bounded, remove_unfinished};
use turnstone_base::folder_lock::FolderLock;

use crate::messages::{LONGEST_NAME, is_name};
use crate::wire::{Malformed, Reader, hex, put_blob, unsealed};

const MAGIC: [u8; 4] = *b"TSP1";
const LONGEST_FILE: u64 = 1 << 31;
const MOST_MESSAGES: usize = 100_000;
/// Maximum number of workers of one machine that are named automatically.
const MOST_NAMES: usize = 10_000;

/// Messages of a finished range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// Its file, if it could be written.
    pub(super) path: Option<PathBuf>,
    pub(super) run: String,
    pub(super) messages: Vec<Vec<u8>>,
}

/// The folder of a worker.
pub(super) struct Spool {
    folder: PathBuf,
    next: u64,
    _lock: FolderLock,
}

impl Spool {
    /// Opens the folder of the worker with this name within `base`; without a name, the first folder that no other worker
    /// uses. Returns the worker's name, and the ranges that an earlier worker of the folder has left. An automatic name ends
    /// in random digits, since several machines may have the same name.
    pub(super) fn open(base: &Path, name: Option<&str>) -> Result<(Self, String, VecDeque<Entry>)> {
        let (folder_name, lock) = match name {
            Some(name) => {
                let folder = base.join(name);
                fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
                (name.to_owned(), FolderLock::take(&folder)?)
            }
            None => first_free(base)?,
        };
        let folder = base.join(&folder_name);
        remove_unfinished(&folder)?;
        let digits = || hex(&rand::random::<[u8; 4]>());
        let name = name.map_or_else(|| format!("{folder_name}-{}", digits()), str::to_owned);
        debug_assert!(is_name(&name));
        let mut left = Vec::new();
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let Some(number) = number_of(&path) else { continue };
            match read_bounded(&path, LONGEST_FILE).map_err(anyhow::Error::from).and_then(|bytes| Ok(decode(&bytes)?)) {
                Ok((run, messages)) => left.push((number, Entry { path: Some(path), run, messages })),
                Err(_) => fs::remove_file(&path)?, // its range is played again
            }
        }
        left.sort_by_key(|(number, _)| *number);
        let next = left.last().map_or(0, |(number, _)| number + 1);
        Ok((Self { folder, next, _lock: lock }, name, left.into_iter().map(|(_, entry)| entry).collect()))
    }

    /// Writes the messages of a finished range. If that fails, for example on a full disk, the entry has no file.
    pub(super) fn save(&mut self, run: &str, messages: Vec<Vec<u8>>) -> (Entry, Result<()>) {
        let path = self.folder.join(format!("{:08}.range", self.next));
        self.next += 1;
        let mut bytes = MAGIC.to_vec();
        put_blob(&mut bytes, run.as_bytes());
        bytes.extend((messages.len() as u32).to_le_bytes());
        messages.iter().for_each(|message| put_blob(&mut bytes, message));
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        let written = atomic_write(&path, &bytes).with_context(|| format!("writing {}", path.display()));
        (Entry { path: written.is_ok().then_some(path), run: run.to_owned(), messages }, written)
    }
}

fn number_of(path: &Path) -> Option<u64> {
    path.extension().filter(|extension| *extension == "range")?;
    path.file_stem()?.to_str()?.parse().ok()
}

fn decode(bytes: &[u8]) -> Result<(String, Vec<Vec<u8>>), Malformed> {
    let mut reader = Reader::of(unsealed(bytes)?, MAGIC)?;
    let run = reader.token(LONGEST_NAME)?;
    let count = reader.u32()? as usize;
    if count > MOST_MESSAGES {
        return Err(Malformed::new("it has too many messages"));
    }
    let messages = (0..count).map(|_| Ok(reader.blob(usize::MAX)?.to_vec())).collect::<Result<_, Malformed>>()?;
    reader.end()?;
    Ok((run, messages))
}

/// The first folder of this machine that no worker uses: `<host>-1`, `<host>-2` and so on.
fn first_free(base: &Path) -> Result<(String, FolderLock)> {
    let host = fs::read_to_string("/etc/hostname").ok().or_else(|| std::env::var("COMPUTERNAME").ok());
    let host: String =
        host.unwrap_or_default().trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let host: String = if host.is_empty() { "worker".into() } else { host.chars().take(40).collect() };
    for number in 1..=MOST_NAMES {
        let name = format!("{host}-{number}");
        let folder = base.join(&name);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        match FolderLock::take(&folder) {
            Ok(lock) => return Ok((name, lock)),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
    bail!("{}: {MOST_NAMES} workers are at work there", base.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_stay_until_they_are_removed() {
        let base = tempfile::tempdir().expect("a temporary folder");
        let (mut spool, name, left) = Spool::open(base.path(), None).expect("a new folder");
        assert!(left.is_empty() && name.contains("-1-"), "{name}");
        let entries = [1u8, 2, 3].map(|byte| spool.save("run", vec![vec![byte; 9], Vec::new()]).0);
        let path = |entry: &Entry| entry.path.clone().expect("written");
        let (_second, other, ..) = Spool::open(base.path(), None).expect("another");
        let folder = name.rsplit_once('-').expect("digits").0;
        assert!(other.contains("-2-") && Spool::open(base.path(), Some(folder)).is_err(), "one worker per folder");
        drop(spool);
        fs::remove_file(path(&entries[0])).expect("there");
        let mut damaged = fs::read(path(&entries[1])).expect("there");
        damaged[12] ^= 1;
        fs::write(path(&entries[1]), damaged).expect("writable");
        let (mut spool, _, left) = Spool::open(base.path(), None).expect("the same folder");
        assert_eq!(left, [entries[2].clone()], "the damaged one is gone");
        assert_ne!(spool.save("run", Vec::new()).0.path, entries[2].path);
        fs::remove_dir_all(&spool.folder).expect("there");
        let (unwritten, fault) = spool.save("run", vec![vec![7]]);
        assert!(unwritten.path.is_none() && unwritten.messages == [[7]] && fault.is_err());
    }

    #[test]
    fn files_are_bounded() {
        assert!(decode(b"").is_err() && decode(b"TSP1").is_err());
        let mut huge = MAGIC.to_vec();
        put_blob(&mut huge, b"run");
        huge.extend(u32::MAX.to_le_bytes());
        let checksum = crc32fast::hash(&huge);
        huge.extend(checksum.to_le_bytes());
        assert!(decode(&huge).expect_err("too many").0.contains("too many"));
    }
}

//! Journal of a walk: the agent's moves on disk, from which an interrupted walk continues.
//!
//! ```text
//! a JSON object in one line, with a checksum: what is walked
//! parts: length as u32, bytes of moves, CRC-32 of the bytes as u32
//! ```

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use turnstone_base::checksum::{crc32_text, seal_line};
use turnstone_base::files::{atomic_write, read_bounded};
use turnstone_base::folder_lock::FolderLock;

const FORMAT: u32 = 1;

/// Longest file to read, far above that of a walk that fits into memory.
const LONGEST: u64 = 1 << 34;

/// Journal of a walk in progress.
#[derive(Debug)]
pub struct WalkJournal {
    path: PathBuf,
    file: File,
    /// The moves that it had when it was opened.
    moves: Vec<u8>,
    /// Number of bytes of moves in it.
    written: usize,
    _lock: FolderLock,
}

impl WalkJournal {
    /// Opens the journal of this name in a folder, or begins it. What identifies the walk must be the same as before. A part
    /// at the end that is incomplete or damaged is removed.
    ///
    /// # Errors
    /// The folder cannot be used, or has a journal of another walk.
    pub fn open(folder: &Path, name: &str, mut identity: Value) -> Result<Self> {
        identity["turnstone_walk"] = FORMAT.into();
        let header = seal_line(&identity.to_string()) + "\n";
        let path = folder.join(name);
        let named = || path.display().to_string();
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let lock = FolderLock::take(folder)?;
        if !path.exists() {
            atomic_write(&path, header.as_bytes()).with_context(named)?;
        }
        let bytes = read_bounded(&path, LONGEST).with_context(named)?;
        let rest = bytes.strip_prefix(header.as_bytes());
        ensure!(rest.is_some(), "{}: it belongs to another agent, game or version; name another folder", named());
        let (moves, whole) = parts(rest.unwrap_or_default());
        let file = File::options().append(true).open(&path).with_context(named)?;
        file.set_len((header.len() + whole) as u64).with_context(named)?;
        Ok(Self { file, written: moves.len(), moves, _lock: lock, path })
    }

    /// The moves that the journal had when it was opened.
    pub(super) fn take_moves(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.moves)
    }

    /// Adds what is new of all moves so far.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn add(&mut self, moves: &[u8]) -> Result<()> {
        let new = &moves[self.written.min(moves.len())..];
        if !new.is_empty() {
            let length = u32::try_from(new.len()).context("too many moves at once")?;
            let part = [&length.to_le_bytes(), new, crc32_text(new).as_bytes()].concat();
            self.file.write_all(&part).with_context(|| format!("writing {}", self.path.display()))?;
            self.written = moves.len();
        }
        Ok(())
    }
}

/// The moves of the parts that are whole, and the length of these parts.
fn parts(bytes: &[u8]) -> (Vec<u8>, usize) {
    let (mut moves, mut rest) = (Vec::new(), bytes);
    while let Some((length, after)) = rest.split_first_chunk()
        && let Some((part, after)) = after.split_at_checked(u32::from_le_bytes(*length) as usize)
        && let Some((checksum, after)) = after.split_at_checked(crc32_text(&[]).len())
        && checksum == crc32_text(part).as_bytes()
    {
        moves.extend_from_slice(part);
        rest = after;
    }
    (moves, bytes.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_parts_come_back_and_torn_ones_are_written_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || WalkJournal::open(folder.path(), "walk", json!({ "agent": "random" }));
        let mut journal = open().expect("a new one");
        assert!(journal.take_moves().is_empty());
        journal.add(&[1, 2, 3]).expect("writable");
        journal.add(&[1, 2, 3]).expect("nothing new");
        journal.add(&[1, 2, 3, 4, 5]).expect("writable");
        drop(journal);
        let path = folder.path().join("walk");
        let whole = fs::read(&path).expect("readable");
        for cut in 0..14 {
            fs::write(&path, &whole[..whole.len() - cut]).expect("writable");
            let mut journal = open().expect("the same");
            let kept = if cut == 0 { 5 } else { 3 };
            assert_eq!(journal.take_moves(), [1, 2, 3, 4, 5][..kept], "{cut}");
            journal.add(&[1, 2, 3, 4, 5]).expect("writable");
            drop(journal);
            assert_eq!(fs::read(&path).expect("readable"), whole, "{cut}");
        }
        let mut damaged = whole.clone();
        let last = damaged.len() - 10;
        damaged[last] ^= 1;
        fs::write(&path, &damaged).expect("writable");
        assert_eq!(open().expect("the same").take_moves(), [1, 2, 3]);
        let other = WalkJournal::open(folder.path(), "walk", json!({ "agent": "minimax" }));
        assert!(other.expect_err("another agent").to_string().contains("another agent"));
    }
}

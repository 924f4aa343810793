//! Reading a table, through a memory map where there is one.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

#[cfg(not(target_family = "wasm"))]
use memmap2::Mmap;

use super::fault::{TableError, TableFault};
use super::{BLOCK, Prefix, TableIdentity};

/// The bytes of a table file.
pub(super) enum Bytes {
    #[cfg(not(target_family = "wasm"))]
    Mapped(Mmap),
    Read(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            #[cfg(not(target_family = "wasm"))]
            Self::Mapped(map) => map,
            Self::Read(bytes) => bytes,
        }
    }
}

/// A section of an open table.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    start: usize,
    len: usize,
}

impl Section {
    /// Number of bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// An open table.
pub struct TableFile {
    path: PathBuf,
    game: String,
    map: Bytes,
    sections: Vec<(String, Section)>,
}

impl TableFile {
    /// Opens the table of this identity and checks all of its bytes.
    ///
    /// # Errors
    /// The file is missing, damaged, cut short or the table of something else.
    pub fn open(path: &Path, identity: &TableIdentity) -> Result<Self, TableError> {
        Self::read(path, identity).map_err(|fault| {
            let (path, game) = (path.to_owned(), identity.game.clone());
            TableError { path, game, fault }
        })
    }

    /// The section of this name, which must have this length.
    ///
    /// # Errors
    /// It is missing or has another length.
    pub fn section(&self, name: &str, len: u64) -> Result<Section, TableError> {
        let found = self.sections.iter().find(|(known, section)| known == name && section.len as u64 == len);
        found.map(|&(_, section)| section).ok_or_else(|| {
            let (path, game) = (self.path.clone(), self.game.clone());
            TableError { path, game, fault: TableFault::Section(name.to_owned()) }
        })
    }

    /// The names of all sections with their sections.
    pub fn sections(&self) -> impl Iterator<Item = (&str, Section)> {
        self.sections.iter().map(|(name, section)| (name.as_str(), *section))
    }

    /// The bytes of a section.
    #[must_use]
    #[inline]
    pub fn bytes(&self, section: Section) -> &[u8] {
        &self.map[section.start..section.start + section.len]
    }

    fn read(path: &Path, identity: &TableIdentity) -> Result<Self, TableFault> {
        // Asked before it is opened: opening a named pipe would wait for its writer.
        if !fs::metadata(path)?.is_file() {
            return Err(TableFault::Format("it is not a regular file"));
        }
        let map = contents(&File::open(path)?, map)?;
        let prefix = Prefix::read(&map)?;
        let found = map.len() as u64;
        if prefix.length != found {
            return Err(TableFault::Length { expected: prefix.length, found });
        }
        // The prefix is intact, so the directory is where it says; `get` guards against a forged prefix.
        let damaged = || TableFault::Checksum("directory".into());
        let directory = map.get(prefix.directory as usize..).ok_or_else(damaged)?;
        if crc32fast::hash(directory) != prefix.checksum {
            return Err(damaged());
        }
        let (text, checksums) = directory.split_at_checked(prefix.text_len as usize).ok_or_else(damaged)?;
        let text = std::str::from_utf8(text).map_err(|_| damaged())?;
        let sections = read_directory(text, identity, prefix.directory as usize)?;
        let blocks = sections.iter().flat_map(|(name, Section { start, len })| {
            map[*start..start + len].chunks(BLOCK).enumerate().map(move |(number, block)| (name, number, block))
        });
        let (checksums, _) = checksums.as_chunks::<4>();
        if blocks.clone().count() != checksums.len() {
            return Err(damaged());
        }
        for ((name, number, block), checksum) in blocks.zip(checksums) {
            if crc32fast::hash(block).to_le_bytes() != *checksum {
                return Err(TableFault::Checksum(format!("block {number} of section `{name}`")));
            }
        }
        Ok(Self { path: path.to_owned(), game: identity.game.clone(), map, sections })
    }
}

/// The sections that the directory names, which must be before byte `end`; checks the identity.
fn read_directory(text: &str, identity: &TableIdentity, end: usize) -> Result<Vec<(String, Section)>, TableFault> {
    let mut lines = text.lines();
    for (what, expected) in identity.lines() {
        let line = lines.next().and_then(|line| line.strip_prefix(what)?.strip_prefix(' '));
        let found = line.ok_or(TableFault::Format("its directory is malformed"))?;
        if found != expected {
            return Err(TableFault::Identity { what, found: found.to_owned(), expected });
        }
    }
    let mut sections = Vec::new();
    for line in lines {
        let malformed = || TableFault::Format("its directory is malformed");
        let ["section", name, start, len] = line.split(' ').collect::<Vec<_>>()[..] else { return Err(malformed()) };
        let start: usize = start.parse().map_err(|_| malformed())?;
        let len: usize = len.parse().map_err(|_| malformed())?;
        if start.checked_add(len).is_none_or(|last| last > end) {
            return Err(malformed());
        }
        sections.push((name.to_owned(), Section { start, len }));
    }
    Ok(sections)
}

/// The bytes of a file: mapped, or read whole where the file system has no maps.
pub(super) fn contents(mut file: &File, map: impl Fn(&File) -> io::Result<Bytes>) -> io::Result<Bytes> {
    map(file).or_else(|_| {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Bytes::Read(bytes))
    })
}

/// Maps a file for reading.
#[cfg(not(target_family = "wasm"))]
#[expect(unsafe_code, reason = "a table is probed in place: reading hundreds of megabytes first would take seconds")]
fn map(file: &File) -> io::Result<Bytes> {
    // SAFETY: the bytes of a map must not change. Tables are written under another name and renamed, never changed in
    // place, so the mapped file keeps its bytes even while it is being rebuilt.
    unsafe { Mmap::map(file) }.map(Bytes::Mapped)
}

#[cfg(target_family = "wasm")]
fn map(_: &File) -> io::Result<Bytes> {
    Err(io::ErrorKind::Unsupported.into())
}

impl fmt::Debug for TableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableFile").field("path", &self.path).field("sections", &self.sections).finish_non_exhaustive()
    }
}

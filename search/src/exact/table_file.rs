//! The file that a solver's table is kept in: named sections of bytes with a header that says what they are about.
//!
//! ```text
//! 0    magic, format version, where the directory lies, length of the whole file, checksums of directory and prefix
//! 64   sections of bytes, each at a multiple of 64
//! ...  the directory: lines of text (game, its version, parameters, kind, sections), then a CRC-32 per 64 KiB block
//! ```
//!
//! A file appears whole or not at all: it is written under a temporary name, synced and renamed, and its prefix is
//! written last. [`TableFile::open`] maps the file and checks prefix, directory, identity and length, which reads a few
//! kilobytes; a block's checksum is checked when the block is first touched, so what is damaged is never believed.
//! [`TableFile::verify`] checks all blocks (134 MB in 0.02 s once the file is in memory): programs do so at the start.

use std::fmt::{self, Display};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::Mmap;
use thiserror::Error;
use turnstone_env::{Game, Params};

const MAGIC: [u8; 8] = *b"TURNTABL";
/// Raised when the layout of the file changes.
const FORMAT: u32 = 1;
const PREFIX: usize = 64;
/// Bytes per checksum.
const BLOCK: usize = 1 << 16;
const ALIGNMENT: u64 = 64;

/// What a table is about; a file with another identity is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableIdentity {
    /// The game's name.
    pub game: String,
    /// The game's [`Game::VERSION`].
    pub version: u32,
    /// The parameters that the table depends on, as text.
    pub params: String,
    /// What kind of table, with the solver's own version: `strong solution 1`.
    pub kind: String,
}

impl TableIdentity {
    /// The identity of a table of `G`; `params` holds what the table depends on, and nothing else.
    #[must_use]
    pub fn of<G: Game>(params: &Params, kind: &str) -> Self {
        Self { game: G::NAME.to_owned(), version: G::VERSION, params: params.to_string(), kind: kind.to_owned() }
    }

    /// The usual name of such a table's file: `morris-pieces8.table`.
    #[must_use]
    pub fn file_name(&self) -> String {
        let params = self.params.replace('=', "").replace(' ', "-");
        format!("{}-{params}.table", self.game)
    }

    fn lines(&self) -> [(&'static str, String); 4] {
        [
            ("game", self.game.clone()),
            ("version", self.version.to_string()),
            ("params", self.params.clone()),
            ("kind", self.kind.clone()),
        ]
    }
}

/// Why a table cannot be used, with what to do about it, as one line.
#[derive(Debug, Error)]
#[error("{}: {fault}; {} it with `turnstone solve {game}`", path.display(), fault.remedy())]
pub struct TableError {
    /// The file.
    pub path: PathBuf,
    /// The game whose table was wanted.
    pub game: String,
    /// What is wrong.
    pub fault: TableFault,
}

/// What is wrong with a table's file.
#[derive(Debug, Error)]
pub enum TableFault {
    /// It cannot be opened or read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is no table, or a table in a layout that this program does not know.
    #[error("{0}")]
    Format(&'static str),
    /// It is shorter or longer than it says.
    #[error("it has {found} bytes instead of {expected}")]
    Length {
        /// Bytes that its header announces.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// It is a table of something else.
    #[error("its {what} is `{found}` instead of `{expected}`")]
    Identity {
        /// Game, version, params or kind.
        what: &'static str,
        /// What the file says.
        found: String,
        /// What was wanted.
        expected: String,
    },
    /// A section is missing or has the wrong length.
    #[error("its section `{0}` is missing or has the wrong length")]
    Section(String),
    /// Bytes have changed since they were written.
    #[error("its {0} does not match its checksum")]
    Checksum(String),
}

impl TableFault {
    fn remedy(&self) -> &'static str {
        match self {
            Self::Io(error) if error.kind() == io::ErrorKind::NotFound => "build",
            _ => "rebuild",
        }
    }
}

/// A table being written. Dropped before [`TableWriter::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct TableWriter {
    file: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
    directory: String,
    /// The section being written: its name and where it starts.
    open: Option<(String, u64)>,
    position: u64,
    block: crc32fast::Hasher,
    block_len: usize,
    checksums: Vec<u32>,
}

impl TableWriter {
    /// Begins a table that will appear at `path`.
    ///
    /// # Errors
    /// Whatever the file system reports.
    pub fn create(path: &Path, identity: &TableIdentity) -> io::Result<Self> {
        let name =
            path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a path of a file"))?;
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        // A leftover of a process that had the same number and died.
        let _ = fs::remove_file(&temporary);
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        let mut writer = Self {
            file: BufWriter::with_capacity(1 << 20, file),
            temporary,
            path: path.to_owned(),
            directory: String::new(),
            open: None,
            position: 0,
            block: crc32fast::Hasher::new(),
            block_len: 0,
            checksums: Vec::new(),
        };
        for (key, value) in identity.lines() {
            assert!(!value.contains('\n'), "the directory has one line per field");
            writer.directory += &format!("{key} {value}\n");
        }
        writer.put(&[0; PREFIX])?;
        Ok(writer)
    }

    /// Writes a whole section.
    ///
    /// # Errors
    /// Whatever the file system reports.
    pub fn section(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.begin(name)?;
        self.write(bytes)
    }

    /// Ends the section before and begins one that [`TableWriter::write`] fills.
    ///
    /// # Errors
    /// Whatever the file system reports.
    pub fn begin(&mut self, name: &str) -> io::Result<()> {
        assert!(!name.is_empty() && !name.contains(char::is_whitespace), "a section's name is one word");
        self.end()?;
        self.open = Some((name.to_owned(), self.position));
        Ok(())
    }

    /// Adds bytes to the section last begun.
    ///
    /// # Errors
    /// Whatever the file system reports.
    pub fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        assert!(self.open.is_some(), "bytes belong to a section");
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(BLOCK - self.block_len));
            self.block.update(now);
            self.block_len += now.len();
            self.put(now)?;
            if self.block_len == BLOCK {
                self.end_block();
            }
            bytes = rest;
        }
        Ok(())
    }

    /// Writes directory and prefix, and gives the file its name.
    ///
    /// # Errors
    /// Whatever the file system reports; then there is no file, or the one that was there before.
    pub fn finish(mut self) -> io::Result<()> {
        self.end()?;
        let mut directory = self.directory.as_bytes().to_vec();
        let text_len = directory.len() as u32;
        directory.extend(self.checksums.iter().flat_map(|checksum| checksum.to_le_bytes()));
        let at = self.position;
        self.put(&directory)?;
        let prefix = Prefix { directory: at, text_len, length: self.position, checksum: crc32fast::hash(&directory) };
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&prefix.bytes())?;
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        fs::rename(&self.temporary, &self.path)?;
        if cfg!(unix) {
            let folder = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?; // makes the rename last
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn end_block(&mut self) {
        self.checksums.push(std::mem::take(&mut self.block).finalize());
        self.block_len = 0;
    }

    fn end(&mut self) -> io::Result<()> {
        let Some((name, start)) = self.open.take() else { return Ok(()) };
        if self.block_len > 0 {
            self.end_block();
        }
        self.directory += &format!("section {name} {start} {}\n", self.position - start);
        let padding = self.position.next_multiple_of(ALIGNMENT) - self.position;
        self.put(&[0; ALIGNMENT as usize][..padding as usize])
    }
}

impl Drop for TableWriter {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary); // after `finish` it is not there any more
    }
}

/// The first [`PREFIX`] bytes of a file.
struct Prefix {
    /// Where the directory starts.
    directory: u64,
    /// Bytes of text in it.
    text_len: u32,
    /// Bytes in the file.
    length: u64,
    /// Checksum of the directory.
    checksum: u32,
}

impl Prefix {
    fn bytes(&self) -> [u8; PREFIX] {
        let mut bytes = [0; PREFIX];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.text_len.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.directory.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.length.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.checksum.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..PREFIX - 4]);
        bytes[PREFIX - 4..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn read(file: &[u8]) -> Result<Self, TableFault> {
        let bytes = file.get(..PREFIX).ok_or(TableFault::Format("it is too short to be a table"))?;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        if bytes[..8] != MAGIC {
            return Err(TableFault::Format("it is no table of a solver"));
        }
        if crc32fast::hash(&bytes[..PREFIX - 4]) != word(PREFIX - 4) {
            return Err(TableFault::Checksum("header".into()));
        }
        if word(8) != FORMAT {
            return Err(TableFault::Format("its format is of another version of this program"));
        }
        Ok(Self { text_len: word(12), directory: long(16), length: long(24), checksum: word(32) })
    }
}

/// A section of an open table.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    start: usize,
    len: usize,
    /// Number of its first block.
    block: usize,
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

/// A table mapped into memory.
pub struct TableFile {
    path: PathBuf,
    game: String,
    map: Mmap,
    sections: Vec<(String, Section)>,
    checksums: Vec<u32>,
    /// The blocks whose checksum has been found right.
    checked: Vec<AtomicBool>,
}

impl TableFile {
    /// Opens the table of this identity. Blocks are checked when they are first touched.
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
        found.map(|&(_, section)| section).ok_or_else(|| self.error(TableFault::Section(name.to_owned())))
    }

    /// The names of all sections with their sections.
    pub fn sections(&self) -> impl Iterator<Item = (&str, Section)> {
        self.sections.iter().map(|(name, section)| (name.as_str(), *section))
    }

    /// Bytes of a section.
    ///
    /// # Errors
    /// A block that they lie in does not match its checksum.
    ///
    /// # Panics
    /// If the range does not lie in the section.
    #[inline]
    pub fn bytes(&self, section: Section, range: Range<usize>) -> Result<&[u8], TableError> {
        assert!(range.start <= range.end && range.end <= section.len, "the range lies in the section");
        for block in range.start / BLOCK..range.end.div_ceil(BLOCK) {
            if !self.checked[section.block + block].load(Ordering::Relaxed) {
                self.check(section, block)?;
            }
        }
        Ok(&self.map[section.start + range.start..section.start + range.end])
    }

    /// One byte of a section; see [`TableFile::bytes`].
    ///
    /// # Errors
    /// Its block does not match its checksum.
    #[inline]
    pub fn byte(&self, section: Section, at: usize) -> Result<u8, TableError> {
        Ok(self.bytes(section, at..at + 1)?[0])
    }

    /// Checks every block.
    ///
    /// # Errors
    /// The first that does not match its checksum.
    pub fn verify(&self) -> Result<(), TableError> {
        self.sections.iter().try_for_each(|&(_, section)| self.bytes(section, 0..section.len).map(|_| ()))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error about this file.
    #[must_use]
    pub fn error(&self, fault: TableFault) -> TableError {
        TableError { path: self.path.clone(), game: self.game.clone(), fault }
    }

    fn read(path: &Path, identity: &TableIdentity) -> Result<Self, TableFault> {
        // Asked before it is opened: opening a named pipe would wait for its writer.
        if !fs::metadata(path)?.is_file() {
            return Err(TableFault::Format("it is not a regular file"));
        }
        let map = map(&File::open(path)?)?;
        let prefix = Prefix::read(&map)?;
        let found = map.len() as u64;
        if prefix.length != found {
            return Err(TableFault::Length { expected: prefix.length, found });
        }
        // The prefix is as it was written, so the directory lies where it says; `get` guards against a forged one.
        let damaged = || TableFault::Checksum("directory".into());
        let directory = map.get(prefix.directory as usize..).ok_or_else(damaged)?;
        if crc32fast::hash(directory) != prefix.checksum {
            return Err(damaged());
        }
        let (text, checksums) = directory.split_at_checked(prefix.text_len as usize).ok_or_else(damaged)?;
        let text = std::str::from_utf8(text).map_err(|_| damaged())?;
        let checksums: Vec<u32> =
            checksums.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("four bytes"))).collect();
        let sections = read_directory(text, identity, prefix.directory as usize)?;
        let blocks: usize = sections.iter().map(|(_, section)| section.len.div_ceil(BLOCK)).sum();
        if blocks != checksums.len() {
            return Err(damaged());
        }
        let checked = checksums.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self { path: path.to_owned(), game: identity.game.clone(), map, sections, checksums, checked })
    }

    #[cold]
    fn check(&self, section: Section, block: usize) -> Result<(), TableError> {
        let range = block * BLOCK..((block + 1) * BLOCK).min(section.len);
        let number = section.block + block;
        if crc32fast::hash(&self.map[section.start + range.start..section.start + range.end]) == self.checksums[number]
        {
            self.checked[number].store(true, Ordering::Relaxed);
            return Ok(());
        }
        let known = self.sections.iter().find(|(_, known)| known.block == section.block && known.len == section.len);
        let name = known.map_or("?", |(name, _)| name);
        Err(self.error(TableFault::Checksum(format!("block {block} of section `{name}`"))))
    }
}

/// The sections that the directory names, which must lie before byte `end`; checks the identity.
fn read_directory(text: &str, identity: &TableIdentity, end: usize) -> Result<Vec<(String, Section)>, TableFault> {
    let mut lines = text.lines();
    for (what, expected) in identity.lines() {
        let line = lines.next().and_then(|line| line.strip_prefix(what)?.strip_prefix(' '));
        let found = line.ok_or(TableFault::Format("its directory is malformed"))?;
        if found != expected {
            return Err(TableFault::Identity { what, found: found.to_owned(), expected });
        }
    }
    let (mut sections, mut block) = (Vec::new(), 0);
    for line in lines {
        let malformed = || TableFault::Format("its directory is malformed");
        let ["section", name, start, len] = line.split(' ').collect::<Vec<_>>()[..] else { return Err(malformed()) };
        let start: usize = start.parse().map_err(|_| malformed())?;
        let len: usize = len.parse().map_err(|_| malformed())?;
        if start.checked_add(len).is_none_or(|last| last > end) {
            return Err(malformed());
        }
        sections.push((name.to_owned(), Section { start, len, block }));
        block += len.div_ceil(BLOCK);
    }
    Ok(sections)
}

/// Maps a file for reading.
#[expect(unsafe_code, reason = "a table is probed in place: reading hundreds of megabytes first would take seconds")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the bytes of a map must not change. Tables are written under another name and renamed, never changed in
    // place, so the mapped file keeps its bytes even while it is being rebuilt.
    unsafe { Mmap::map(file) }
}

impl Display for TableIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({}), {}", self.game, self.version, self.params, self.kind)
    }
}

impl fmt::Debug for TableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableFile").field("path", &self.path).field("sections", &self.sections).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> TableIdentity {
        let params = "pits=6 stones=4".to_owned();
        TableIdentity { game: "mancala".into(), version: 1, params, kind: "endgame 1".into() }
    }

    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * i / 7) as u8).collect()
    }

    fn write(path: &Path) {
        let mut writer = TableWriter::create(path, &identity()).unwrap();
        writer.section("short", &bytes(100)).unwrap();
        writer.section("empty", &[]).unwrap();
        writer.begin("long").unwrap();
        bytes(3 * BLOCK + 5).chunks(1000).for_each(|chunk| writer.write(chunk).unwrap());
        writer.finish().unwrap();
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.table");
        write(&path);
        write(&path); // over an existing one
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let table = TableFile::open(&path, &identity()).unwrap();
        table.verify().unwrap();
        for (name, len) in [("short", 100), ("empty", 0), ("long", 3 * BLOCK + 5)] {
            let section = table.section(name, len as u64).unwrap();
            assert_eq!(table.bytes(section, 0..len).unwrap(), bytes(len));
        }
        let long = table.section("long", 3 * BLOCK as u64 + 5).unwrap();
        assert_eq!(table.byte(long, 2 * BLOCK + 1).unwrap(), bytes(2 * BLOCK + 2)[2 * BLOCK + 1]);
        assert!(table.section("long", 1).is_err());
        assert!(table.section("other", 1).is_err());
    }

    #[test]
    fn a_dropped_writer_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = TableWriter::create(&folder.path().join("a.table"), &identity()).unwrap();
        writer.section("short", &bytes(100)).unwrap();
        drop(writer);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.table");
        write(&path);
        let whole = fs::read(&path).unwrap();
        let changed = folder.path().join("changed.table");
        let refused = |bytes: &[u8]| {
            fs::write(&changed, bytes).unwrap();
            let error = TableFile::open(&changed, &identity()).and_then(|table| table.verify()).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("changed.table: "), "{text}");
            assert!(text.ends_with("; rebuild it with `turnstone solve mancala`"), "{text}");
            assert!(!text.contains('\n'));
        };
        // Between the sections, and behind the last, lie bytes that nobody reads.
        let directory = Prefix::read(&whole).ok().unwrap().directory as usize;
        let long = PREFIX + 128..PREFIX + 128 + 3 * BLOCK + 5;
        let places = (0..PREFIX + 100).chain(long.clone().step_by(4099)).chain(long.end - 1..long.end);
        for at in places.chain(directory..whole.len()) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            refused(&bytes);
        }
        for len in (0..200).chain((200..whole.len()).step_by(5003)).chain(whole.len() - 3..whole.len()) {
            refused(&whole[..len]);
        }
        refused(&[&whole[..], &[0]].concat());
    }

    #[test]
    fn a_damaged_block_is_not_believed_even_without_verify() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.table");
        write(&path);
        let mut bytes = fs::read(&path).unwrap();
        bytes[PREFIX + 128 + BLOCK + 9] ^= 4;
        fs::write(&path, bytes).unwrap();
        let table = TableFile::open(&path, &identity()).unwrap();
        let long = table.section("long", 3 * BLOCK as u64 + 5).unwrap();
        assert!(table.byte(long, 0).is_ok());
        assert!(table.byte(long, 2 * BLOCK).is_ok());
        let error = table.byte(long, BLOCK).unwrap_err().to_string();
        assert!(error.contains("its block 1 of section `long` does not match its checksum"), "{error}");
    }

    #[test]
    fn a_table_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.table");
        write(&path);
        let refused = |identity: TableIdentity, fault: &str| {
            let error = TableFile::open(&path, &identity).unwrap_err().to_string();
            assert!(error.contains(fault), "{error}");
        };
        refused(TableIdentity { game: "morris".into(), ..identity() }, "its game is `mancala` instead of `morris`");
        refused(TableIdentity { version: 2, ..identity() }, "its version is `1` instead of `2`");
        refused(TableIdentity { params: "pits=5 stones=4".into(), ..identity() }, "its params is `pits=6 stones=4`");
        refused(TableIdentity { kind: "endgame 2".into(), ..identity() }, "its kind is `endgame 1`");
        let absent = TableFile::open(&folder.path().join("absent"), &identity()).unwrap_err().to_string();
        assert!(absent.ends_with("; build it with `turnstone solve mancala`"), "{absent}");
        assert!(TableFile::open(folder.path(), &identity()).is_err());
    }
}

//! Writing a table: sections as they come, directory and prefix at the end, and then its name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use turnstone_base::files::{sync, sync_folder};

use super::{ALIGNMENT, BLOCK, PREFIX, Prefix, TableIdentity};

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
    /// Any error of the file system.
    pub fn create(path: &Path, identity: &TableIdentity) -> io::Result<Self> {
        let name =
            path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a path of a file"))?;
        remove_abandoned(path);
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
    /// Any error of the file system.
    pub fn section(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.begin(name)?;
        self.write(bytes)
    }

    /// Ends the section before and begins one that [`TableWriter::write`] fills.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn begin(&mut self, name: &str) -> io::Result<()> {
        assert!(!name.is_empty() && !name.contains(char::is_whitespace), "a section's name is one word");
        self.end()?;
        self.open = Some((name.to_owned(), self.position));
        Ok(())
    }

    /// Adds bytes to the section last begun.
    ///
    /// # Errors
    /// Any error of the file system.
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
    /// Any error of the file system. The path then holds no file, or the previous one.
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
        sync(self.file.get_ref())?;
        fs::rename(&self.temporary, &self.path)?;
        sync_folder(self.path.parent().unwrap_or(Path::new("")))
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
        let _ = fs::remove_file(&self.temporary); // `finish` has renamed it
    }
}

/// Removes temporary files of this table whose processes have ended, where the system can tell. Errors do not matter:
/// the files are only in the way.
fn remove_abandoned(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let inner = found.to_str().and_then(|found| found.strip_prefix('.')?.strip_suffix(".tmp"));
        let process = inner.and_then(|inner| inner.strip_prefix(name)?.strip_prefix('.'));
        let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if process.filter(is_number).is_some_and(|process| !processes.join(process).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

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
    position: u64,
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
            position: 0,
            checksums: Vec::new(),
        };
        for (key, value) in identity.lines() {
            assert!(!value.contains('\n'), "the directory has one line per field");
            writer.directory += &format!("{key} {value}\n");
        }
        writer.put(&[0; PREFIX])?;
        Ok(writer)
    }

    /// Writes a section.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn section(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        assert!(!name.is_empty() && !name.contains(char::is_whitespace), "a section's name is one word");
        self.directory += &format!("section {name} {} {}\n", self.position, bytes.len());
        self.checksums.extend(bytes.chunks(BLOCK).map(crc32fast::hash));
        self.put(bytes)?;
        let padding = self.position.next_multiple_of(ALIGNMENT) - self.position;
        self.put(&[0; ALIGNMENT as usize][..padding as usize])
    }

    /// Writes directory and prefix, and gives the file its name.
    ///
    /// # Errors
    /// Any error of the file system. The path then holds no file, or the previous one.
    pub fn finish(mut self) -> io::Result<()> {
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

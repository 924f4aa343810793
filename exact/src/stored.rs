//! The bytes of a table, built in memory or mapped from a file.

use std::fmt;
use std::io;
use std::path::Path;

use crate::table_file::{Section, TableError, TableFile, TableIdentity, TableWriter};

/// The one section of these tables.
const SECTION: &str = "values";

/// Bytes in memory or in a mapped file.
pub(super) enum Stored {
    Built(Vec<u8>),
    Mapped(Box<TableFile>, Section),
}

impl Stored {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Built(bytes) => bytes.len(),
            Self::Mapped(_, section) => section.len(),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Built(bytes) => bytes,
            Self::Mapped(file, section) => {
                file.bytes(*section, 0..section.len()).expect("every block was checked at opening")
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> u8 {
        match self {
            Self::Built(bytes) => bytes[at],
            Self::Mapped(file, section) => file.byte(*section, at).expect("every block was checked at opening"),
        }
    }

    pub(super) fn save(&self, path: &Path, identity: &TableIdentity) -> io::Result<()> {
        let mut writer = TableWriter::create(path, identity)?;
        match self {
            Self::Built(bytes) => writer.section(SECTION, bytes)?,
            Self::Mapped(file, section) => {
                writer.section(SECTION, file.bytes(*section, 0..section.len()).map_err(io::Error::other)?)?;
            }
        }
        writer.finish()
    }

    /// Maps a file and checks all of its blocks. `fits` returns whether a section has a valid length.
    pub(super) fn open(
        path: &Path,
        identity: &TableIdentity,
        fits: impl Fn(usize) -> bool,
    ) -> Result<Self, TableError> {
        let file = TableFile::open(path, identity)?;
        file.verify()?;
        let len = file.sections().find(|&(name, section)| name == SECTION && fits(section.len()));
        let section = file.section(SECTION, len.map_or(u64::MAX, |(_, section)| section.len() as u64))?;
        Ok(Self::Mapped(Box::new(file), section))
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if matches!(self, Self::Built(_)) { "built" } else { "mapped" };
        write!(f, "Stored({} bytes, {place})", self.len())
    }
}

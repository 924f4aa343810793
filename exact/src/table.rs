//! Tables of values: their bytes, built in memory or mapped from a file, and the coefficients that number positions.

use std::fmt;
use std::io;
use std::path::Path;

use crate::table_file::{Section, TableError, TableFile, TableIdentity, TableWriter};

/// The one section of these tables.
const SECTION: &str = "values";

/// The bytes of a table.
pub enum TableBytes {
    /// Built in memory.
    Built(Vec<u8>),
    /// A section of a mapped file.
    Mapped(Box<TableFile>, Section),
}

impl TableBytes {
    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Built(bytes) => bytes,
            Self::Mapped(file, section) => file.bytes(*section),
        }
    }

    /// The byte at an index.
    #[must_use]
    #[inline]
    pub fn get(&self, at: usize) -> u8 {
        self.bytes()[at]
    }

    /// Writes a table file with these bytes as its one section.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path, identity: &TableIdentity) -> io::Result<()> {
        let mut writer = TableWriter::create(path, identity)?;
        writer.section(SECTION, self.bytes())?;
        writer.finish()
    }

    /// Maps a file. `fits` returns whether a section has a valid length.
    ///
    /// # Errors
    /// The file is missing, damaged, or of another table.
    pub fn open(path: &Path, identity: &TableIdentity, fits: impl Fn(usize) -> bool) -> Result<Self, TableError> {
        let file = TableFile::open(path, identity)?;
        let len = file.sections().find(|&(name, section)| name == SECTION && fits(section.len()));
        let section = file.section(SECTION, len.map_or(u64::MAX, |(_, section)| section.len() as u64))?;
        Ok(Self::Mapped(Box::new(file), section))
    }
}

impl fmt::Debug for TableBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if matches!(self, Self::Built(_)) { "built" } else { "mapped" };
        write!(f, "TableBytes({} bytes, {place})", self.len())
    }
}

/// The number of ways to choose `k` of `n`, by which tables number their positions; 0 if `n` is less than `k`.
#[must_use]
pub fn binomial(n: usize, k: usize) -> u64 {
    if k > n { 0 } else { (0..k).fold(1, |product, i| product * (n - i) as u64 / (i + 1) as u64) }
}

//! The layout of a table's file: sizes, and the prefix that it begins with.

use super::fault::TableFault;

pub(super) const MAGIC: [u8; 8] = *b"TURNTABL";
/// Raised when the layout of the file changes.
pub(super) const FORMAT: u32 = 1;
pub(super) const PREFIX: usize = 64;
/// Bytes per checksum.
pub(super) const BLOCK: usize = 1 << 16;
pub(super) const ALIGNMENT: u64 = 64;

/// The first [`PREFIX`] bytes of a file.
pub(super) struct Prefix {
    /// Where the directory starts.
    pub(super) directory: u64,
    /// Bytes of text in it.
    pub(super) text_len: u32,
    /// Bytes in the file.
    pub(super) length: u64,
    /// Checksum of the directory.
    pub(super) checksum: u32,
}

impl Prefix {
    pub(super) fn bytes(&self) -> [u8; PREFIX] {
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

    pub(super) fn read(file: &[u8]) -> Result<Self, TableFault> {
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

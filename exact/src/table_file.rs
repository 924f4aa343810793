//! Files of solvers' tables: named sections of bytes, and a header with the identity of the table.
//!
//! ```text
//! 0    magic, format version, where the directory lies, length of the whole file, checksums of directory and prefix
//! 64   sections of bytes, each at a multiple of 64
//! ...  the directory: lines of text (game, its version, parameters, kind, sections), then a CRC-32 per 64 KiB block
//! ```
//!
//! A file appears whole or not at all: it is written under a temporary name, synced and renamed, and its prefix is
//! written last. [`TableFile::open`] maps the file and checks prefix, directory, identity and length, which reads a few
//! kilobytes; a block's checksum is checked when the block is first read, so damaged bytes are never returned.
//! [`TableFile::verify`] checks all blocks (134 MB in 0.02 s once the file is in memory): programs do so at the start.

mod identity;
mod fault;
mod layout;
mod write;
mod read;
#[cfg(test)]
mod tests;

pub use fault::{TableError, TableFault};
pub use identity::TableIdentity;
pub use read::{Section, TableFile};
pub use write::TableWriter;

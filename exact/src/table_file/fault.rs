//! Errors of table files.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::FORMAT;

/// A table file cannot be used. The message is one line and names the remedy.
#[derive(Debug, Error)]
#[error("{}: {fault}; {} it with `turnstone solve {game}`", path.display(), fault.remedy())]
pub struct TableError {
    /// The file.
    pub path: PathBuf,
    /// The game of the expected table.
    pub game: String,
    /// The fault.
    pub fault: TableFault,
}

/// The fault of a table file.
#[derive(Debug, Error)]
pub enum TableFault {
    /// It cannot be opened or read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is no table, or a table in a layout that this program does not know.
    #[error("{0}")]
    Format(&'static str),
    /// Its format has another version.
    #[error("its format is version {0}, this program reads {FORMAT}")]
    Version(u32),
    /// Its length differs from the one in its header.
    #[error("it has {found} bytes instead of {expected}")]
    Length {
        /// The length that its header states.
        expected: u64,
        /// Its length.
        found: u64,
    },
    /// It is a table of another game, or of another kind.
    #[error("its {what} is `{found}` instead of `{expected}`")]
    Identity {
        /// Game, version, params or kind.
        what: &'static str,
        /// The value in the file.
        found: String,
        /// The value that was expected.
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

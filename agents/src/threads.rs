//! Number of threads of one search, as an option of agent specs.

use std::fmt;

use turnstone_base::machine::cores;

use crate::options::Options;

/// Maximum number of threads of a search.
pub const MOST_THREADS: usize = 1024;

/// Number of threads of one search. With more than one, two searches of the same position differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Threads(Option<u32>);

impl Threads {
    /// Takes `threads=`: 1 to 1024, or 0 for one per core.
    pub(crate) fn parse(options: &mut Options) -> Result<Self, String> {
        options.number("threads", 0..=MOST_THREADS as u32).map(Self)
    }

    /// The number, if it was given.
    #[must_use]
    pub fn number(self) -> Option<usize> {
        let number = |threads| if threads == 0 { cores() } else { threads as usize };
        self.0.map(|threads| if cfg!(target_family = "wasm") { 1 } else { number(threads) })
    }

    /// This number, or else another.
    #[must_use]
    pub fn or(self, threads: usize) -> Self {
        Self(self.0.or(Some(threads as u32)))
    }

    /// Whether two searches of the same position may differ.
    #[must_use]
    pub fn is_several(self) -> bool {
        self.0.is_some_and(|threads| threads != 1)
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |threads| write!(f, ",threads={threads}"))
    }
}

//! Number of threads of one search, as an option of agent specs.

use std::fmt;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use turnstone_base::machine::cores;
use turnstone_base::warnings::warn_once;

use crate::options::Options;

/// Maximum number of threads of one search: four per core, and at least eight. With more, the thread that looks at the
/// clock would wait too long for a core to keep its time.
#[must_use]
pub fn most_threads() -> usize {
    (4 * cores()).max(8)
}

/// Starts a thread of a search; `None`, with one warning per process, if the system refuses it.
pub(crate) fn spawn_or_warn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let spawned = Builder::new().spawn_scoped(scope, work);
    spawned.map_err(|error| warn_once(&format!("a search runs with fewer threads than it was given ({error})"))).ok()
}

/// Number of threads of one search. With more than one, two searches of the same position differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Threads(Option<u32>);

impl Threads {
    /// Takes `threads=`: 1 to [`most_threads`], or 0 for one per core.
    pub(crate) fn parse(options: &mut Options) -> Result<Self, String> {
        let number = options.number("threads", 0..=most_threads() as u32, "threads of one search; 0 is one per core");
        number.map(Self).map_err(|fault| format!("{fault}: this machine has {} cores", cores()))
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

//! Number of threads of one search, as an option of agent specs.

use std::thread::{Builder, Scope, ScopedJoinHandle};

use turnstone_base::machine::cores;
use turnstone_base::settings::{Given, Value};
use turnstone_base::warnings::warn_once;

/// Maximum number of threads of one search: four per core, and at least eight. With more, the thread that looks at the
/// clock would wait too long for a core to keep its time.
#[must_use]
pub fn most_threads() -> usize {
    (4 * cores()).max(8)
}

/// The most threads that a spec may ask for, of which [`most_threads`] are possible.
pub(crate) const MANY: u32 = 1024;

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
    /// Checks that this machine has the cores for it.
    pub(crate) fn check(self) -> Result<Self, String> {
        let (most, cores) = (most_threads(), cores());
        match self.0 {
            Some(threads) if threads as usize > most => {
                Err(format!("threads is {threads}, but must be at most {most}: this machine has {cores} cores"))
            }
            _ => Ok(self),
        }
    }

    /// The number, if it was given.
    #[must_use]
    pub fn number(self) -> Option<usize> {
        let number = |threads| if threads == 0 { cores() } else { threads as usize };
        self.0.map(|threads| if cfg!(target_family = "wasm") { 1 } else { number(threads) })
    }

    /// Whether two searches of the same position may differ.
    #[must_use]
    pub fn is_several(self) -> bool {
        self.0.is_some_and(|threads| threads != 1)
    }
}

impl Value for Threads {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        Ok(Option::read(given)?.map(Self))
    }

    fn give(&self) -> Option<Given> {
        self.0.give()
    }

    fn expected() -> String {
        u32::expected()
    }
}

//! The flag that ends searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag by which another thread ends a search, and longer work: a match, a run. Clones share the flag; once raised it
/// stays raised.
#[derive(Clone, Default, Debug)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the searches that were given this flag.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

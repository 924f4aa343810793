//! The clock of searches: the browser's, or the system's.

use turnstone_search::Clock;

/// A clock that advances in this host.
pub(crate) fn clock() -> Clock {
    #[cfg(target_family = "wasm")]
    return Clock::new(|| std::time::Duration::from_secs_f64(crate::host::now() / 1000.0));
    #[cfg(not(target_family = "wasm"))]
    return Clock::system();
}

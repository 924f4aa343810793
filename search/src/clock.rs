//! The clock that time limits are measured with. Whoever starts a search hands it in, as not every host has a system
//! clock.

use std::fmt;
use std::time::Duration;

/// A function that returns the time since some fixed moment. It must not go back.
///
/// ```
/// use std::time::Duration;
/// use turnstone_search::Clock;
///
/// // In a browser: the page's `performance.now()`, imported as `milliseconds`.
/// fn milliseconds() -> f64 {
///     # 1500.0
///     // ...
/// }
/// let clock = Clock::new(|| Duration::from_secs_f64(milliseconds() / 1000.0));
/// assert_eq!(clock.now(), Duration::from_millis(1500));
/// ```
#[derive(Clone, Copy)]
pub struct Clock(fn() -> Duration);

impl Clock {
    /// A clock that reads the time from `now`.
    #[must_use]
    pub const fn new(now: fn() -> Duration) -> Self {
        Self(now)
    }

    /// The system's monotonic clock.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub const fn system() -> Self {
        use std::sync::OnceLock;
        use std::time::Instant;

        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        Self(|| ORIGIN.get_or_init(Instant::now).elapsed())
    }

    /// A clock that always returns the same time, so that no time limit is ever reached.
    #[must_use]
    pub const fn standing() -> Self {
        Self(|| Duration::ZERO)
    }

    /// The time since the clock's fixed moment.
    #[must_use]
    pub fn now(&self) -> Duration {
        (self.0)()
    }
}

impl Default for Clock {
    /// [`Clock::system`], or [`Clock::standing`] on WebAssembly, which has no system clock.
    fn default() -> Self {
        #[cfg(not(target_family = "wasm"))]
        return Self::system();
        #[cfg(target_family = "wasm")]
        return Self::standing();
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?})", self.now())
    }
}

//! The clock of searches: the browser's, or the system's.

// The attribute writes the declaration of a foreign function, which is unsafe to call.
#![allow(unsafe_code)]

use turnstone_search::Clock;

#[cfg(target_family = "wasm")]
#[wasm_bindgen::prelude::wasm_bindgen]
extern "C" {
    /// The browser's clock in milliseconds.
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

/// A clock that advances in this host.
pub(crate) fn clock() -> Clock {
    #[cfg(target_family = "wasm")]
    return Clock::new(|| std::time::Duration::from_secs_f64(now() / 1000.0));
    #[cfg(not(target_family = "wasm"))]
    return Clock::system();
}

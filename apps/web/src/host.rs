//! What the module needs from the browser.

// The attribute writes the declaration of a foreign function, which is unsafe to call.
#![allow(unsafe_code)]

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The browser's clock in milliseconds.
    #[wasm_bindgen(js_namespace = performance)]
    pub(crate) fn now() -> f64;
}

//! Rules, agents and exact values behind an interface of texts, for the page in `page/` and its workers.
//!
//! Positions and actions cross the border in the games' own notation, everything else as JSON. On
//! `wasm32-unknown-unknown` the types in `bindings` are JavaScript classes; natively the same code runs in tests, which
//! compare the two.
//!
//! A module with a game of one's own is a crate of type `cdylib` that depends on this one and calls [`add_game`] when it
//! is loaded; see `docs/web.md`.

mod error;
mod list;
mod clock;
mod table;
mod searcher;
mod truth;
pub mod agreement;
#[cfg(target_family = "wasm")]
mod bindings;

pub use error::Fault;
pub use list::{add_game, games};
pub use searcher::Searcher;
pub use table::Table;
pub use truth::Truth;

//! Tests of the repository itself; `tests/tidy.rs` holds the rules of the architecture.

/// The Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

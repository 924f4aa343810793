//! The program in conversation with others (docs/protocol.md).

mod talk;
mod document;
mod engine;
mod analysis;
mod external;

//! The program in conversation with others (docs/protocol.md).

#[path = "protocol/talk.rs"]
mod talk;
#[path = "protocol/document.rs"]
mod document;
#[path = "protocol/engine.rs"]
mod engine;
#[path = "protocol/analysis.rs"]
mod analysis;
#[path = "protocol/external.rs"]
mod external;

//! Trained agents: files that are compiled in, but into no page, which reads them from its server.

/// The bytes of a checkpoint as [`GameFiles`](turnstone_agents::GameFiles) have them.
#[cfg(not(target_family = "wasm"))]
macro_rules! trained {
    ($file:literal) => {
        Some(include_bytes!($file))
    };
}

#[cfg(target_family = "wasm")]
macro_rules! trained {
    ($file:literal) => {
        None
    };
}

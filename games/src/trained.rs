//! Trained agents: files that the feature `pretrained` compiles in.

/// The bytes of a checkpoint as [`GameFiles`](turnstone_agents::GameFiles) have them.
#[cfg(feature = "pretrained")]
macro_rules! trained {
    ($file:literal) => {
        Some(include_bytes!($file))
    };
}

#[cfg(not(feature = "pretrained"))]
macro_rules! trained {
    ($file:literal) => {
        None
    };
}

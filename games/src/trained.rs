//! Trained agents and graded positions: files that are compiled in, but into no page, which reads agents from its server.

/// A file as [`GameFiles`](turnstone_agents::GameFiles) have it: `None` in a page.
macro_rules! outside_pages {
    ($file:expr) => {
        if cfg!(target_family = "wasm") { None } else { Some($file) }
    };
}

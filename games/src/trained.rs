//! Trained agents, graded positions and the like: files that are compiled in, but into no page, which reads agents from its
//! server and needs none of the others.

/// A file as [`GameFiles`](turnstone_agents::GameFiles) have it: nothing in a page.
macro_rules! outside_pages {
    ($file:expr) => {
        if cfg!(target_family = "wasm") { None } else { Some($file) }
    };
}

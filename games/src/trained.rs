//! Trained agents, graded positions and the like: files that are compiled in, but into no page, which reads agents from its
//! server and needs none of the others.

/// A file as [`GameFiles`](turnstone_agents::GameFiles) have it: nothing in a page.
macro_rules! outside_pages {
    ($file:expr) => {
        if cfg!(target_family = "wasm") { None } else { Some($file) }
    };
}

/// Certificates as [`GameFiles`](turnstone_agents::GameFiles) have them: none in a page.
macro_rules! certificates {
    ($($file:literal),+) => {
        if cfg!(target_family = "wasm") { &[] } else { &[$(include_bytes!($file)),+] }
    };
}

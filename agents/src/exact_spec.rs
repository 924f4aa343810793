//! Spec of a player with exact values.

use std::path::PathBuf;
use std::time::Duration;

use turnstone_base::settings;

/// Default folder of tables.
pub(crate) const TABLES: &str = "tables";

settings! {
    /// Plays by the game's exact values: `exact` or `exact:<folder of tables>`.
    #[derive(Clone, Debug)]
    pub struct ExactSpec {
        /// Folder with the game's tables, if it needs some.
        pub tables: PathBuf = TABLES.into();
        /// Rate of moves that lose value.
        pub error: f64 = 0.0, 0.0..=1.0;
        /// Positions of a search for an exact value.
        pub nodes: Option<u32> = None, 0..=u32::MAX;
        /// Time of a search for an exact value.
        pub time: Option<Duration>;
    }
}

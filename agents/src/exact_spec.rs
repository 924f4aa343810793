//! Specs of players with exact values: `exact`, `exact:<folder of tables>,error=0.1,time=5s`.

use std::path::PathBuf;
use std::time::Duration;

use turnstone_base::times::time_text;

use crate::options::{Options, path_in_spec};

/// Default folder of the tables.
pub(crate) const TABLES: &str = "tables";

/// Spec of a player with exact values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExactSpec {
    /// Folder with the game's table, if it needs one (see `turnstone solve`).
    pub tables: PathBuf,
    /// Rate of moves that lose value.
    pub error: Rate,
    /// Maximum number of nodes of a search for an exact value.
    pub nodes: Option<u32>,
    /// Maximum time of a search for an exact value.
    pub time: Option<Duration>,
}

/// Probability from 0 to 1, in millionths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rate(u32);

const MILLION: f64 = 1e6;

impl Rate {
    fn parse(text: &str) -> Option<Self> {
        let rate = text.parse::<f64>().ok().filter(|rate| (0.0..=1.0).contains(rate))?;
        Some(Self((MILLION * rate).round() as u32))
    }

    /// The probability, 0..=1.
    #[must_use]
    pub fn chance(self) -> f64 {
        f64::from(self.0) / MILLION
    }
}

impl ExactSpec {
    pub(crate) fn parse(options: &mut Options) -> Result<Self, String> {
        let error = match options.take("error", "0 to 1", "rate of moves that lose value") {
            None => Rate(0),
            Some(text) => {
                Rate::parse(&text).ok_or_else(|| format!("error must be a rate from 0 to 1, not `{text}`"))?
            }
        };
        let nodes = options.number("nodes", 0..=u32::MAX, "positions of a search for an exact value")?;
        let time = options.time("time", "time of a search for an exact value")?;
        Ok(Self { tables: options.file.take().unwrap_or_else(|| TABLES.into()), error, nodes, time })
    }

    /// As a spec has them behind its colon.
    pub(crate) fn options(&self) -> String {
        let tables = (self.tables.as_os_str() != TABLES).then(|| path_in_spec(&self.tables));
        let error = (self.error.0 > 0).then(|| format!("error={}", self.error.chance()));
        let nodes = self.nodes.map(|nodes| format!("nodes={nodes}"));
        let time = self.time.map(|time| format!("time={}", time_text(time)));
        [tables, error, nodes, time].into_iter().flatten().collect::<Vec<_>>().join(",")
    }
}

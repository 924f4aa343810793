//! How an agent's tree search plays, as a part of its spec.

use std::fmt;
use std::time::Duration;

use super::options::{Options, time_text};
use crate::config::SearchKind;

/// Most simulations per move.
const MAX_SIMULATIONS: u32 = 10_000_000;

/// What bounds a tree search, and how it searches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TreeSpec {
    /// What it may spend on a move.
    pub budget: Budget,
    /// Which search.
    pub search: SearchKind,
    /// What a draw is worth to the agent.
    pub draw: DrawValue,
}

/// What an agent's tree search may spend on a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Budget {
    /// Simulations.
    Simulations(u32),
    /// Time; of a game's clock, at most a twentieth of what is left.
    Time(Duration),
}

/// What a draw is worth, from -1 (a loss) to 1 (a win), in hundredths. Who gives it a value above 0 plays safe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct DrawValue(i8);

impl DrawValue {
    fn parse(text: &str) -> Option<Self> {
        let value = text.parse::<f64>().ok().filter(|value| (-1.0..=1.0).contains(value))?;
        Some(Self((100.0 * value).round() as i8))
    }

    /// The value, -1..=1.
    #[must_use]
    pub fn value(self) -> f32 {
        f32::from(self.0) / 100.0
    }
}

impl TreeSpec {
    /// A search of so many simulations, to which a draw is worth nothing.
    #[must_use]
    pub fn simulations(simulations: u32, search: SearchKind) -> Self {
        Self { budget: Budget::Simulations(simulations), search, draw: DrawValue::default() }
    }

    pub(super) fn parse(options: &mut Options) -> Result<Self, String> {
        let budget = Budget::parse(options, 0, 100)?;
        let search = match options.take("search").as_deref() {
            None => SearchKind::default(),
            Some("puct") => SearchKind::Puct,
            Some("gumbel") => SearchKind::Gumbel,
            Some(other) => return Err(format!("search must be puct or gumbel, not `{other}`")),
        };
        let draw = options.take("draw").map_or(Ok(DrawValue::default()), |text| {
            DrawValue::parse(&text).ok_or_else(|| format!("draw must be a value from -1 to 1, not `{text}`"))
        })?;
        Ok(Self { budget, search, draw })
    }
}

impl Budget {
    /// `sims=` or `time=`, of which there can be one.
    pub(super) fn parse(options: &mut Options, least: u32, default: u32) -> Result<Self, String> {
        let simulations = options.number("sims", least..=MAX_SIMULATIONS)?;
        match (simulations, options.time("time")?) {
            (Some(_), Some(_)) => Err("give sims or time, not both".into()),
            (None, Some(time)) => Ok(Self::Time(time)),
            (simulations, None) => Ok(Self::Simulations(simulations.unwrap_or(default))),
        }
    }
}

impl fmt::Display for TreeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.budget)?;
        if self.search == SearchKind::Puct {
            write!(f, ",search=puct")?;
        }
        if self.draw != DrawValue::default() {
            write!(f, ",draw={}", f64::from(self.draw.0) / 100.0)?;
        }
        Ok(())
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulations(simulations) => write!(f, "sims={simulations}"),
            Self::Time(time) => write!(f, "time={}", time_text(*time)),
        }
    }
}

//! Options of an agent spec that configure its tree search.

use std::fmt;
use std::time::Duration;

use turnstone_models::{ComputeDevice, NetworkError, Precision};

use super::options::{Options, time_text};
use crate::search_settings::{MAX_PROOF_NODES, SearchKind, SearchSettings};

/// Maximum number of simulations per move.
const MAX_SIMULATIONS: u32 = 10_000_000;

/// Budget and settings of a tree search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TreeSpec {
    /// Limit per move.
    pub budget: Budget,
    /// Settings that replace those used in training.
    pub search: SearchOverrides,
    /// Value of a draw for the agent.
    pub draw: DrawValue,
    /// Arithmetic of the network.
    pub precision: Precision,
    /// What the network runs on.
    pub device: ComputeDevice,
}

/// Limit of a tree search per move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Budget {
    /// Number of simulations.
    Simulations(u32),
    /// Time; at most a twentieth of the remaining time in games with clocks.
    Time(Duration),
}

/// Value of a draw, from -1 (a loss) to 1 (a win), in hundredths. A positive value makes the agent prefer draws.
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

/// Search settings given in a spec; the others are those of the checkpoint ([`SearchSettings`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct SearchOverrides {
    /// `search=puct` or `search=gumbel`.
    pub method: Option<SearchKind>,
    /// `c_puct=`, 0 to 100.
    pub c_puct: Option<Decimal>,
    /// `fpu=`, 0 to 2.
    pub fpu_reduction: Option<Decimal>,
    /// `c_visit=`, 0 to 10000.
    pub c_visit: Option<Decimal>,
    /// `c_scale=`, 0 to 1000.
    pub c_scale: Option<Decimal>,
    /// `considered=`, 1 to 65536.
    pub considered: Option<u32>,
    /// `proof_nodes=`, 0 to 100000.
    pub proof_nodes: Option<u32>,
}

impl From<SearchKind> for SearchOverrides {
    fn from(method: SearchKind) -> Self {
        Self { method: Some(method), ..Self::default() }
    }
}

impl SearchOverrides {
    fn parse(options: &mut Options) -> Result<Self, String> {
        let method = match options.take("search").as_deref() {
            None => None,
            Some("puct") => Some(SearchKind::Puct),
            Some("gumbel") => Some(SearchKind::Gumbel),
            Some(other) => return Err(format!("search must be puct or gumbel, not `{other}`")),
        };
        let mut decimal = |key: &'static str, most: f64| {
            let Some(text) = options.take(key) else { return Ok(None) };
            let number = Decimal::parse(&text, most);
            number.map(Some).ok_or_else(|| format!("{key} must be a number from 0 to {most}, not `{text}`"))
        };
        Ok(Self {
            method,
            c_puct: decimal("c_puct", 100.0)?,
            fpu_reduction: decimal("fpu", 2.0)?,
            c_visit: decimal("c_visit", 10_000.0)?,
            c_scale: decimal("c_scale", 1000.0)?,
            considered: options.number("considered", 1..=65_536)?,
            proof_nodes: options.number("proof_nodes", 0..=MAX_PROOF_NODES)?,
        })
    }

    /// Applies the overrides to these settings.
    #[must_use]
    pub fn over(&self, settings: SearchSettings) -> SearchSettings {
        let or = |given: Option<Decimal>, own: f32| given.map_or(own, Decimal::value);
        SearchSettings {
            method: self.method.unwrap_or(settings.method),
            c_puct: or(self.c_puct, settings.c_puct),
            fpu_reduction: or(self.fpu_reduction, settings.fpu_reduction),
            c_visit: or(self.c_visit, settings.c_visit),
            c_scale: or(self.c_scale, settings.c_scale),
            considered: self.considered.or(settings.considered),
            proof_nodes: self.proof_nodes.unwrap_or(settings.proof_nodes),
        }
    }
}

impl fmt::Display for SearchOverrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.method {
            None => {}
            Some(SearchKind::Puct) => write!(f, ",search=puct")?,
            Some(SearchKind::Gumbel) => write!(f, ",search=gumbel")?,
        }
        let decimals = [
            ("c_puct", self.c_puct),
            ("fpu", self.fpu_reduction),
            ("c_visit", self.c_visit),
            ("c_scale", self.c_scale),
        ];
        for (key, value) in decimals {
            if let Some(value) = value {
                write!(f, ",{key}={value}")?;
            }
        }
        for (key, value) in [("considered", self.considered), ("proof_nodes", self.proof_nodes)] {
            if let Some(value) = value {
                write!(f, ",{key}={value}")?;
            }
        }
        Ok(())
    }
}

/// Non-negative number with three decimals; unlike a float it can be compared and hashed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Decimal(u32);

impl Decimal {
    fn parse(text: &str, most: f64) -> Option<Self> {
        let value = text.parse::<f64>().ok().filter(|value| (0.0..=most).contains(value))?;
        Some(Self((1000.0 * value).round() as u32))
    }

    /// The number as a float.
    #[must_use]
    pub fn value(self) -> f32 {
        (f64::from(self.0) / 1000.0) as f32
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 1000.0)
    }
}

impl TreeSpec {
    /// Creates a spec with a fixed number of simulations and draws of value 0.
    #[must_use]
    pub fn simulations(simulations: u32, search: SearchOverrides) -> Self {
        Self {
            budget: Budget::Simulations(simulations),
            search,
            draw: DrawValue::default(),
            precision: Precision::default(),
            device: ComputeDevice::default(),
        }
    }

    pub(super) fn parse(options: &mut Options) -> Result<Self, String> {
        let budget = Budget::parse(options, 0, 100)?;
        let search = SearchOverrides::parse(options)?;
        let draw = options.take("draw").map_or(Ok(DrawValue::default()), |text| {
            DrawValue::parse(&text).ok_or_else(|| format!("draw must be a value from -1 to 1, not `{text}`"))
        })?;
        let precision = options.take("precision").map_or(Ok(Precision::default()), |text| text.parse())?;
        let device = options.take("device").map_or(Ok(ComputeDevice::default()), |text| text.parse())?;
        if precision == Precision::I8 && device != ComputeDevice::Cpu {
            return Err(NetworkError::NoGpuIntegers.to_string());
        }
        Ok(Self { budget, search, draw, precision, device })
    }
}

impl Budget {
    /// Parses `sims=` or `time=`, which exclude each other.
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
        write!(f, "{}{}", self.budget, self.search)?;
        if self.draw != DrawValue::default() {
            write!(f, ",draw={}", f64::from(self.draw.0) / 100.0)?;
        }
        if self.precision != Precision::default() {
            write!(f, ",precision={}", self.precision)?;
        }
        if self.device != ComputeDevice::default() {
            write!(f, ",device={}", self.device)?;
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

//! Options of an agent spec that configure its tree search.

use std::fmt;
use std::time::Duration;

use turnstone_base::times::time_text;
use turnstone_models::{ComputeDevice, NetworkError, Precision};

use super::options::Options;
use super::threads::Threads;
use crate::search_settings::{SEARCH_SETTINGS, SearchKind, SearchSettings};

/// Maximum number of simulations per move.
const MAX_SIMULATIONS: u32 = 10_000_000;

/// Greatest temperature of the choice of moves, as in self-play.
const MAX_TEMPERATURE: f64 = 10.0;

/// Budget and settings of a tree search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TreeSpec {
    /// Limit per move.
    pub budget: Budget,
    /// Settings that replace those used in training.
    pub search: SearchOverrides,
    /// Arithmetic of the network.
    pub precision: Precision,
    /// What the network runs on.
    pub device: ComputeDevice,
    /// Threads of one search.
    pub threads: Threads,
    temperature: Decimal,
}

/// Limit of a tree search per move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Budget {
    /// Number of simulations.
    Simulations(u32),
    /// Time; at most a twentieth of the remaining time in games with clocks.
    Time(Duration),
}

/// Search settings given in a spec; the others are those of the checkpoint ([`SearchSettings`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct SearchOverrides {
    method: Option<SearchKind>,
    /// In the order of [`SEARCH_SETTINGS`].
    numbers: [Option<Decimal>; SEARCH_SETTINGS.len()],
}

impl From<SearchKind> for SearchOverrides {
    fn from(method: SearchKind) -> Self {
        Self { method: Some(method), ..Self::default() }
    }
}

impl SearchOverrides {
    fn parse(options: &mut Options) -> Result<Self, String> {
        let method =
            match options.take("method", "puct or gumbel", "search algorithm [default: the checkpoint's]").as_deref() {
                None => None,
                Some("puct") => Some(SearchKind::Puct),
                Some("gumbel") => Some(SearchKind::Gumbel),
                Some(other) => return Err(format!("method must be puct or gumbel, not `{other}`")),
            };
        let mut overrides = Self { method, ..Self::default() };
        for (setting, number) in SEARCH_SETTINGS.iter().zip(&mut overrides.numbers) {
            let [least, most] = setting.range;
            let Some(text) = options.take(setting.name, format!("{least} to {most}"), setting.help) else { continue };
            let read =
                Decimal::parse(&text).filter(|read| setting.set(&mut SearchSettings::default(), read.value()).is_ok());
            let fault = || format!("{} must be a number from {least} to {most}, not `{text}`", setting.name);
            *number = Some(read.ok_or_else(fault)?);
        }
        Ok(overrides)
    }

    /// Applies the overrides to these settings.
    #[must_use]
    pub fn over(&self, mut settings: SearchSettings) -> SearchSettings {
        settings.method = self.method.unwrap_or(settings.method);
        for (setting, number) in SEARCH_SETTINGS.iter().zip(self.numbers) {
            if let Some(number) = number {
                setting.set(&mut settings, number.value()).expect("its range has been checked");
            }
        }
        settings
    }
}

impl fmt::Display for SearchOverrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.method {
            None => {}
            Some(SearchKind::Puct) => write!(f, ",method=puct")?,
            Some(SearchKind::Gumbel) => write!(f, ",method=gumbel")?,
        }
        for (setting, number) in SEARCH_SETTINGS.iter().zip(self.numbers) {
            if let Some(number) = number {
                write!(f, ",{}={}", setting.name, number.value())?;
            }
        }
        Ok(())
    }
}

/// A number with three decimals; unlike a float it can be compared and hashed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
struct Decimal(i32);

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let value = text.parse::<f64>().ok().filter(|value| value.abs() <= 1e6)?;
        Some(Self((1000.0 * value).round() as i32))
    }

    fn value(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl TreeSpec {
    /// Creates a spec with a fixed number of simulations.
    #[must_use]
    pub fn simulations(simulations: u32, search: SearchOverrides) -> Self {
        Self {
            budget: Budget::Simulations(simulations),
            search,
            precision: Precision::default(),
            device: ComputeDevice::default(),
            threads: Threads::default(),
            temperature: Decimal::default(),
        }
    }

    /// Temperature of the choice of moves: the policy of the search, or of the network alone, is raised to the power of its
    /// inverse; 0 plays the best move.
    #[must_use]
    pub fn temperature(&self) -> f32 {
        self.temperature.value() as f32
    }

    pub(super) fn parse(options: &mut Options) -> Result<Self, String> {
        let budget = Budget::parse(options, 0, 100)?;
        let search = SearchOverrides::parse(options)?;
        let precision = options
            .take("precision", "f32, i8 or auto", "arithmetic of the network")
            .map_or(Ok(Precision::default()), |text| text.parse())?;
        let device = options
            .take("device", "cpu, gpu, gpu:1", "what the network runs on")
            .map_or(Ok(ComputeDevice::default()), |text| text.parse())?;
        if precision == Precision::I8 && device != ComputeDevice::Cpu {
            return Err(NetworkError::NoGpuIntegers.to_string());
        }
        let threads = Threads::parse(options)?;
        if threads.is_several() && device != ComputeDevice::Cpu {
            return Err("a search on a GPU has one thread".to_owned());
        }
        let temperature = options.take("temperature", "0 to 10", "of the choice of moves; 0 plays the best");
        let temperature = temperature.map_or(Ok(Decimal::default()), |text| {
            let read = Decimal::parse(&text).filter(|read| (0.0..=MAX_TEMPERATURE).contains(&read.value()));
            read.ok_or_else(|| format!("temperature must be a number from 0 to {MAX_TEMPERATURE}, not `{text}`"))
        })?;
        Ok(Self { budget, search, precision, device, threads, temperature })
    }
}

impl Budget {
    /// Parses `sims=` or `time=`, which exclude each other.
    pub(super) fn parse(options: &mut Options, least: u32, default: u32) -> Result<Self, String> {
        let simulations = options.number("sims", least..=MAX_SIMULATIONS, "simulations per move")?;
        match (simulations, options.time("time", "time per move")?) {
            (Some(_), Some(_)) => Err("give sims or time, not both".into()),
            (None, Some(time)) => Ok(Self::Time(time)),
            (simulations, None) => Ok(Self::Simulations(simulations.unwrap_or(default))),
        }
    }
}

impl fmt::Display for TreeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.budget, self.search)?;
        if self.precision != Precision::default() {
            write!(f, ",precision={}", self.precision)?;
        }
        if self.device != ComputeDevice::default() {
            write!(f, ",device={}", self.device)?;
        }
        if self.temperature != Decimal::default() {
            write!(f, ",temperature={}", self.temperature.value())?;
        }
        self.threads.fmt(f)
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

//! Settings of a tree search: set in configs, stored in checkpoints and overridden in agent specs.

use serde::{Deserialize, Serialize};
use turnstone_search::{Gumbel, Method, Puct, SearchOptions};

/// Algorithm of a tree search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    /// PUCT selection as in AlphaZero, with Dirichlet noise at the root in self-play.
    Puct,
    /// Gumbel search: sequential halving over sampled actions at the root.
    #[default]
    Gumbel,
}

/// A number among the [`SearchSettings`]: a key of configs and checkpoints, an option of agent specs, a keyword in Python.
#[derive(Clone, Copy, Debug)]
pub struct SearchSetting {
    /// Its name everywhere.
    pub name: &'static str,
    /// What it is, as one line.
    pub help: &'static str,
    /// Least and greatest value.
    pub range: [f64; 2],
    /// Whether it is a whole number.
    pub is_whole: bool,
    get: fn(&SearchSettings) -> Option<f64>,
    set: fn(&mut SearchSettings, f64),
}

/// A type of a setting.
trait Number: Copy {
    const IS_WHOLE: bool;
    fn get(self) -> Option<f64>;
    fn of(value: f64) -> Self;
}

impl Number for f32 {
    const IS_WHOLE: bool = false;

    fn get(self) -> Option<f64> {
        Some(self.into())
    }

    fn of(value: f64) -> Self {
        value as f32
    }
}

impl Number for u32 {
    const IS_WHOLE: bool = true;

    fn get(self) -> Option<f64> {
        Some(self.into())
    }

    fn of(value: f64) -> Self {
        value as u32
    }
}

impl Number for Option<u32> {
    const IS_WHOLE: bool = true;

    fn get(self) -> Option<f64> {
        self.map(f64::from)
    }

    fn of(value: f64) -> Self {
        Some(value as u32)
    }
}

/// Declares the settings: documentation, name, type, default, range.
macro_rules! search_settings {
    ($($(#[doc = $help:literal])+ $(#[serde($($serde:tt)*)])? $name:ident: $kind:ty = $default:expr, $range:expr;)+) => {
        /// Algorithm and constants of a tree search. Checkpoints store those used in training.
        #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
        #[serde(default)]
        pub struct SearchSettings {
            /// Search algorithm.
            pub method: SearchKind,
            $($(#[doc = $help])+ $(#[serde($($serde)*)])? pub $name: $kind,)+
        }

        impl Default for SearchSettings {
            fn default() -> Self {
                Self { method: SearchKind::default(), $($name: $default,)+ }
            }
        }

        /// The numbers among the settings.
        pub const SEARCH_SETTINGS: [SearchSetting; [$(stringify!($name)),+].len()] = [$(SearchSetting {
            name: stringify!($name),
            help: concat!($($help),+),
            range: $range,
            is_whole: <$kind as Number>::IS_WHOLE,
            get: |settings| Number::get(settings.$name),
            set: |settings, value| settings.$name = Number::of(value),
        }),+];
    };
}

search_settings! {
    /// PUCT: weight of the exploration term.
    c_puct: f32 = Puct::DEFAULT.c_puct, [0.0, 100.0];
    /// PUCT: first-play-urgency reduction.
    fpu_reduction: f32 = Puct::DEFAULT.fpu_reduction, [0.0, 2.0];
    /// Gumbel: added to the greatest visit count in the scale of the values relative to the logits.
    c_visit: f32 = Gumbel::DEFAULT.c_visit, [0.0, 1e4];
    /// Gumbel: factor in the scale of the values relative to the logits.
    c_scale: f32 = Gumbel::DEFAULT.c_scale, [0.0, 1e3];
    /// Gumbel: number of actions considered at the root; by default that of [`Gumbel::strongest`].
    #[serde(skip_serializing_if = "Option::is_none")]
    considered: Option<u32> = None, [1.0, 65_536.0];
    /// Positions that a proof-number search may visit at every leaf; 0 searches for no proofs.
    #[serde(skip_serializing_if = "is_zero")]
    proof_nodes: u32 = 0, [0.0, 100_000.0];
    /// Value of a draw for the side to move, from -1 (a loss) to 1 (a win).
    #[serde(skip_serializing_if = "is_zero")]
    draw: f32 = 0.0, [-1.0, 1.0];
}

fn is_zero<T: Number>(number: &T) -> bool {
    number.get() == Some(0.0)
}

impl SearchSetting {
    /// Its value; `None` if that depends on the number of simulations.
    #[must_use]
    pub fn get(&self, settings: &SearchSettings) -> Option<f64> {
        (self.get)(settings)
    }

    /// Sets it.
    ///
    /// # Errors
    /// One line that names the setting and the range that the value is out of.
    pub fn set(&self, settings: &mut SearchSettings, value: f64) -> Result<(), String> {
        self.check(value)?;
        (self.set)(settings, value);
        Ok(())
    }

    fn check(&self, value: f64) -> Result<(), String> {
        let [least, most] = self.range;
        if least <= value && value <= most && (!self.is_whole || value.fract() == 0.0) {
            return Ok(());
        }
        let whole = if value.fract() == 0.0 || !self.is_whole { "" } else { "a whole number " };
        Err(format!("{} is {}, but must be {whole}from {least} to {most}", self.name, value as f32))
    }
}

impl From<SearchKind> for SearchSettings {
    fn from(method: SearchKind) -> Self {
        Self { method, ..Self::default() }
    }
}

impl SearchSettings {
    /// The search without noise, for the strongest play with this number of simulations.
    #[must_use]
    pub fn strongest(&self, simulations: u32) -> SearchOptions {
        let method = match self.method {
            SearchKind::Puct => {
                Method::Puct(Puct { c_puct: self.c_puct, fpu_reduction: self.fpu_reduction, ..Puct::default() })
            }
            SearchKind::Gumbel => {
                let max_num_considered_actions =
                    self.considered.unwrap_or(Gumbel::strongest(simulations).max_num_considered_actions);
                let (c_visit, c_scale) = (self.c_visit, self.c_scale);
                Method::Gumbel(Gumbel { max_num_considered_actions, c_visit, c_scale, gumbel_scale: 0.0 })
            }
        };
        SearchOptions { method, proof_nodes: self.proof_nodes, draw: self.draw }
    }

    /// The search for varied play with this number of simulations: at temperature 1 it samples actions in proportion to
    /// the search's policy.
    #[must_use]
    pub fn sampling(&self, simulations: u32) -> SearchOptions {
        self.at_temperature(simulations, 1.0)
    }

    /// The search for play at a temperature with this number of simulations; 0 is the strongest. Gumbel search draws its
    /// actions by noise of this scale; the actions of PUCT are drawn when they are chosen.
    pub(crate) fn at_temperature(&self, simulations: u32, temperature: f32) -> SearchOptions {
        let mut options = self.strongest(simulations);
        if let Method::Gumbel(gumbel) = &mut options.method {
            gumbel.gumbel_scale = temperature;
        }
        options
    }

    /// Checks the range of every number.
    ///
    /// # Errors
    /// One line that names the first one that is out of range.
    pub fn validate(&self) -> Result<(), String> {
        SEARCH_SETTINGS.iter().try_for_each(|setting| setting.get(self).map_or(Ok(()), |value| setting.check(value)))
    }

    /// The settings with every number in its range, for those of a file that may come from anywhere.
    #[must_use]
    pub(crate) fn clamped(mut self) -> Self {
        for setting in &SEARCH_SETTINGS {
            if let Some(value) = setting.get(&self) {
                (setting.set)(&mut self, value.clamp(setting.range[0], setting.range[1]));
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_searches_own() {
        for simulations in [1, 16, 200] {
            let strongest = |kind: SearchKind| SearchSettings::from(kind).strongest(simulations);
            assert_eq!(strongest(SearchKind::Puct), Method::Puct(Puct::default()).into());
            assert_eq!(strongest(SearchKind::Gumbel), Method::Gumbel(Gumbel::strongest(simulations)).into());
        }
        let settings = SearchSettings { proof_nodes: 5, draw: -0.25, ..SearchSettings::default() };
        let SearchOptions { method: Method::Gumbel(gumbel), proof_nodes: 5, draw: -0.25 } = settings.sampling(16)
        else {
            panic!("Gumbel by default")
        };
        assert_eq!(gumbel.gumbel_scale, 1.0);
    }

    #[test]
    fn numbers_are_read_set_and_held_within_their_ranges() {
        for setting in &SEARCH_SETTINGS {
            let [least, most] = setting.range;
            let mut settings = SearchSettings::default();
            for value in [least, most, 1.0] {
                assert_eq!(setting.set(&mut settings, value), Ok(()), "{}", setting.name);
                assert_eq!(setting.get(&settings), Some(value), "{}", setting.name);
                assert_eq!(settings.validate(), Ok(()));
            }
            for value in [least - 1.0, most + 1.0, f64::NAN] {
                let fault = setting.set(&mut settings, value).expect_err("out of range");
                assert!(
                    fault.starts_with(setting.name) && fault.ends_with(&format!("from {least} to {most}")),
                    "{fault}"
                );
            }
            assert_eq!(setting.set(&mut settings, 0.5).is_err(), setting.is_whole, "{}", setting.name);
        }
        let wild =
            SearchSettings { c_puct: -3.0, considered: Some(0), proof_nodes: u32::MAX, ..SearchSettings::default() };
        assert_eq!(wild.validate().expect_err("out of range"), "c_puct is -3, but must be from 0 to 100");
        let tame = SearchSettings { c_puct: 0.0, considered: Some(1), proof_nodes: 100_000, ..wild };
        assert_eq!((wild.clamped(), tame.validate()), (tame, Ok(())));
    }
}

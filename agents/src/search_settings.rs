//! Settings of a tree search: set in configs, stored in checkpoints and overridden in agent specs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use turnstone_base::settings::{Given, Partial, Settings};
use turnstone_base::{settings, words};
use turnstone_search::{Gumbel, Method, Puct, SearchOptions};

words! {
    /// Algorithm of a tree search.
    pub enum SearchKind {
        /// Gumbel search: sequential halving over sampled actions at the root.
        Gumbel = "gumbel",
        /// PUCT selection as in AlphaZero, with Dirichlet noise at the root in self-play.
        Puct = "puct",
    }
}

settings! {
    /// Algorithm and constants of a tree search. Checkpoints store those used in training.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    #[serde(default)]
    pub struct SearchSettings {
        /// Search algorithm.
        pub method: SearchKind;
        /// PUCT: weight of the exploration term.
        pub c_puct: f32 = Puct::DEFAULT.c_puct, 0.0..=100.0;
        /// PUCT: first-play-urgency reduction, the value of an unvisited child being its parent's minus this times the square
        /// root of the prior mass already visited.
        pub fpu_reduction: f32 = Puct::DEFAULT.fpu_reduction, 0.0..=2.0;
        /// Gumbel: added to the greatest visit count in the scale of the values relative to the logits.
        pub c_visit: f32 = Gumbel::DEFAULT.c_visit, 0.0..=1e4;
        /// Gumbel: factor in the scale of the values relative to the logits.
        pub c_scale: f32 = Gumbel::DEFAULT.c_scale, 0.0..=1e3;
        /// Gumbel: number of actions considered at the root; in matches by default a fifth of the simulations, 2 to 16.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub considered: Option<u32> = None, 1..=65_536;
        /// Positions that a proof-number search may visit at every leaf; 0 searches for no proofs.
        #[serde(skip_serializing_if = "is_zero")]
        pub proof_nodes: u32 = 0, 0..=100_000;
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl From<SearchKind> for SearchSettings {
    fn from(method: SearchKind) -> Self {
        Self { method, ..Self::default() }
    }
}

/// This algorithm instead of the checkpoint's, with the checkpoint's constants.
impl From<SearchKind> for Partial<SearchSettings> {
    fn from(method: SearchKind) -> Self {
        let mut settings = Self::default();
        settings.set("method", &Given::Text(method.to_string())).expect("an algorithm");
        settings
    }
}

impl SearchSettings {
    /// The settings in a JSON object from anywhere; the default of each that is absent or out of range.
    pub(crate) fn of_json(text: &str) -> Self {
        let stored: BTreeMap<String, Given> = serde_json::from_str(text).unwrap_or_default();
        let with = |settings: Self, (key, given): (&String, &Given)| {
            let mut changed = settings;
            changed.set(key, given).map_or(settings, |()| changed)
        };
        stored.iter().fold(Self::default(), with)
    }

    /// The search without noise, for the strongest play with this number of simulations.
    #[must_use]
    pub fn strongest(&self, simulations: u32) -> SearchOptions {
        let method = match self.method {
            SearchKind::Puct => {
                Method::Puct(Puct { c_puct: self.c_puct, fpu_reduction: self.fpu_reduction, ..Puct::default() })
            }
            SearchKind::Gumbel => {
                let considered = self.considered.unwrap_or(Gumbel::strongest(simulations).considered);
                let (c_visit, c_scale) = (self.c_visit, self.c_scale);
                Method::Gumbel(Gumbel { considered, c_visit, c_scale, gumbel_scale: 0.0 })
            }
        };
        SearchOptions { method, proof_nodes: self.proof_nodes, draw: 0.0 }
    }

    /// The search for play at a temperature with this number of simulations; 0 is the strongest, and at 1 actions are drawn in
    /// proportion to the search's policy. Gumbel search draws its actions by noise of this scale; the actions of PUCT are drawn
    /// when they are chosen.
    pub(crate) fn at_temperature(&self, simulations: u32, temperature: f32) -> SearchOptions {
        let mut options = self.strongest(simulations);
        if let Method::Gumbel(gumbel) = &mut options.method {
            gumbel.gumbel_scale = temperature;
        }
        options
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
        let settings = SearchSettings { proof_nodes: 5, ..SearchSettings::default() };
        let SearchOptions { method: Method::Gumbel(gumbel), proof_nodes: 5, .. } = settings.at_temperature(16, 1.0)
        else {
            panic!("Gumbel by default")
        };
        assert_eq!(gumbel.gumbel_scale, 1.0);
    }

    #[test]
    fn stored_settings_that_cannot_be_are_the_defaults() {
        let read = SearchSettings::of_json;
        let sound = r#"{"method": "puct", "c_puct": 3, "considered": 1, "proof_nodes": 100000}"#;
        let expected =
            SearchSettings { c_puct: 3.0, considered: Some(1), proof_nodes: 100_000, ..SearchKind::Puct.into() };
        assert_eq!(read(sound), expected);
        let wild =
            r#"{"method": "uct", "c_puct": -3, "considered": 0, "proof_nodes": 100001, "other": 1, "c_scale": 0.5}"#;
        assert_eq!(read(wild), SearchSettings { c_scale: 0.5, ..SearchSettings::default() });
        assert_eq!(read("nonsense"), SearchSettings::default());
    }
}

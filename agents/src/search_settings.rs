//! Settings of a tree search: set in configs, stored in checkpoints and overridden in agent specs.

use serde::{Deserialize, Serialize};
use turnstone_search::{Gumbel, Method, Puct};

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

/// Algorithm and constants of a tree search. Checkpoints store those used in training.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchSettings {
    /// Search algorithm.
    pub method: SearchKind,
    /// PUCT: weight of the exploration term.
    pub c_puct: f32,
    /// PUCT: first-play-urgency reduction.
    pub fpu_reduction: f32,
    /// Gumbel: added to the greatest visit count in the scale of the values relative to the logits.
    pub c_visit: f32,
    /// Gumbel: factor in the scale of the values relative to the logits.
    pub c_scale: f32,
    /// Gumbel: number of actions considered at the root; by default that of [`Gumbel::strongest`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub considered: Option<u32>,
    /// Positions that a proof-number search may visit at every leaf ([`turnstone_search::Mcts::set_proof_nodes`]).
    #[serde(skip_serializing_if = "is_zero")]
    pub proof_nodes: u32,
}

/// The most positions that a proof at a leaf may take: some milliseconds.
pub const MAX_PROOF_NODES: u32 = 100_000;

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Default for SearchSettings {
    fn default() -> Self {
        let (puct, gumbel) = (Puct::default(), Gumbel::default());
        Self {
            method: SearchKind::default(),
            c_puct: puct.c_puct,
            fpu_reduction: puct.fpu_reduction,
            c_visit: gumbel.c_visit,
            c_scale: gumbel.c_scale,
            considered: None,
            proof_nodes: 0,
        }
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
    pub fn strongest(&self, simulations: u32) -> Method {
        match self.method {
            SearchKind::Puct => {
                Method::Puct(Puct { c_puct: self.c_puct, fpu_reduction: self.fpu_reduction, ..Puct::default() })
            }
            SearchKind::Gumbel => {
                let max_num_considered_actions =
                    self.considered.unwrap_or(Gumbel::strongest(simulations).max_num_considered_actions);
                let (c_visit, c_scale) = (self.c_visit, self.c_scale);
                Method::Gumbel(Gumbel { max_num_considered_actions, c_visit, c_scale, gumbel_scale: 0.0 })
            }
        }
    }

    /// The search for varied play with this number of simulations: at temperature 1 it samples actions in proportion to
    /// the search's policy.
    #[must_use]
    pub fn sampling(&self, simulations: u32) -> Method {
        match self.strongest(simulations) {
            Method::Gumbel(gumbel) => Method::Gumbel(Gumbel { gumbel_scale: 1.0, ..gumbel }),
            puct @ Method::Puct(_) => puct,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_searches_own() {
        for simulations in [1, 16, 200] {
            let strongest = |kind: SearchKind| SearchSettings::from(kind).strongest(simulations);
            assert_eq!(strongest(SearchKind::Puct), Method::Puct(Puct::default()));
            assert_eq!(strongest(SearchKind::Gumbel), Method::Gumbel(Gumbel::strongest(simulations)));
        }
        let Method::Gumbel(gumbel) = SearchSettings::default().sampling(16) else { panic!("Gumbel by default") };
        assert_eq!(gumbel.gumbel_scale, 1.0);
    }

    #[test]
    fn unknown_keys_of_later_versions_are_ignored() {
        let read: SearchSettings = serde_json::from_str(r#"{"method":"puct","c_puct":2.5,"later":1}"#).expect("JSON");
        assert_eq!(read, SearchSettings { method: SearchKind::Puct, c_puct: 2.5, ..SearchSettings::default() });
    }
}

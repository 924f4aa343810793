//! Section `[search]` of the config: the tree search of self-play.

use serde::{Deserialize, Serialize};
use turnstone_agents::{MAX_PROOF_NODES, SearchKind, SearchSettings};
use turnstone_search::{Gumbel, Method, Puct, RootNoise};

use super::range::within;

/// Section `[search]` of the config: the tree search of self-play.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// Search algorithm.
    pub method: SearchKind,
    /// Simulations per move at the start of the run.
    pub simulations: u32,
    /// Simulations per move at the end of the run, interpolated linearly from the start; 0 means the same number
    /// throughout.
    pub final_simulations: u32,
    /// PUCT: weight of the exploration term.
    pub c_puct: f32,
    /// PUCT: first-play-urgency reduction.
    pub fpu_reduction: f32,
    /// PUCT: total concentration of the root's Dirichlet noise, spread over the legal actions.
    pub noise_concentration: f32,
    /// PUCT: share of the noise in the root's priors, 0..=1; 0 disables it.
    pub noise_fraction: f32,
    /// PUCT: weight of forced playouts, whose visits are pruned from the policy target; 0 disables them.
    pub forced_playouts: f32,
    /// Gumbel: number of actions considered at the root.
    pub considered: u32,
    /// Gumbel: added to the greatest visit count in the scale of the values relative to the logits.
    pub c_visit: f32,
    /// Gumbel: factor in the scale of the values relative to the logits.
    pub c_scale: f32,
    /// Positions that a proof-number search may visit at every leaf; 0 searches for no proofs.
    pub proof_nodes: u32,
    /// The same for the trained agent at play; 0 means the same number as in self-play.
    pub play_proof_nodes: u32,
}

impl Default for SearchConfig {
    fn default() -> Self {
        let (puct, gumbel) = (Puct::default(), Gumbel::default());
        Self {
            method: SearchKind::default(),
            simulations: 64,
            final_simulations: 0,
            c_puct: puct.c_puct,
            fpu_reduction: puct.fpu_reduction,
            noise_concentration: 10.0,
            noise_fraction: 0.25,
            forced_playouts: 2.0,
            considered: gumbel.max_num_considered_actions,
            c_visit: gumbel.c_visit,
            c_scale: gumbel.c_scale,
            proof_nodes: 0,
            play_proof_nodes: 0,
        }
    }
}

impl SearchConfig {
    /// Simulations per move at `progress` (0..=1) of the run.
    #[must_use]
    pub fn simulations_at(&self, progress: f64) -> u32 {
        let first = f64::from(self.simulations);
        let last = if self.final_simulations == 0 { first } else { f64::from(self.final_simulations) };
        (first + (last - first) * progress.clamp(0.0, 1.0)).round() as u32
    }

    /// The search of a self-play move at a temperature. PUCT ignores it: the move is sampled with it after the search.
    /// Gumbel search scales its noise by it, which samples actions in the same proportions.
    #[must_use]
    pub fn self_play(&self, temperature: f32) -> Method {
        match self.plain() {
            Method::Puct(puct) => {
                let noise = RootNoise { concentration: self.noise_concentration, fraction: self.noise_fraction };
                let noise = (noise.fraction > 0.0).then_some(noise);
                Method::Puct(Puct { noise, forced_playouts: self.forced_playouts, ..puct })
            }
            Method::Gumbel(gumbel) => Method::Gumbel(Gumbel { gumbel_scale: temperature, ..gumbel }),
        }
    }

    /// The search without noise and without forced playouts.
    #[must_use]
    pub fn plain(&self) -> Method {
        match self.method {
            SearchKind::Puct => {
                Method::Puct(Puct { c_puct: self.c_puct, fpu_reduction: self.fpu_reduction, ..Puct::default() })
            }
            SearchKind::Gumbel => Method::Gumbel(Gumbel {
                max_num_considered_actions: self.considered,
                c_visit: self.c_visit,
                c_scale: self.c_scale,
                gumbel_scale: 0.0,
            }),
        }
    }

    /// Settings stored in the run's checkpoints, so that a network is played with the search it was trained with.
    #[must_use]
    pub fn settings(&self) -> SearchSettings {
        SearchSettings {
            method: self.method,
            c_puct: self.c_puct,
            fpu_reduction: self.fpu_reduction,
            c_visit: self.c_visit,
            c_scale: self.c_scale,
            considered: None,
            proof_nodes: if self.play_proof_nodes == 0 { self.proof_nodes } else { self.play_proof_nodes },
        }
    }

    /// Checks every value.
    ///
    /// # Errors
    /// One line that names the first key whose value is out of range.
    pub fn validate(&self) -> Result<(), String> {
        within("search.simulations", self.simulations, 1, 1_000_000)?;
        within("search.final_simulations", self.final_simulations, 0, 1_000_000)?;
        within("search.c_puct", self.c_puct, 0.0, 100.0)?;
        within("search.fpu_reduction", self.fpu_reduction, 0.0, 2.0)?;
        within("search.noise_concentration", self.noise_concentration, 1e-3, 1e4)?;
        within("search.noise_fraction", self.noise_fraction, 0.0, 1.0)?;
        within("search.forced_playouts", self.forced_playouts, 0.0, 100.0)?;
        within("search.considered", self.considered, 1, 65_536)?;
        within("search.c_visit", self.c_visit, 0.0, 1e4)?;
        within("search.c_scale", self.c_scale, 0.0, 1e3)?;
        within("search.proof_nodes", self.proof_nodes, 0, MAX_PROOF_NODES)?;
        within("search.play_proof_nodes", self.play_proof_nodes, 0, MAX_PROOF_NODES)?;
        Ok(())
    }
}

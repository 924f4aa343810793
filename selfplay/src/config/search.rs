//! Section `[search]` of a config.

use serde::{Deserialize, Serialize};
use turnstone_agents::{SearchKind, SearchSettings};
use turnstone_base::settings;
use turnstone_search::{Gumbel, Method, RootNoise, SearchOptions};

settings! {
    /// The tree search of self-play.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    #[serde(default)]
    pub struct SearchConfig {
        /// Algorithm and constants, which the trained agent is played with too.
        #[serde(flatten)]
        pub constants: SearchSettings =
            SearchSettings { considered: Some(Gumbel::DEFAULT.considered), ..SearchSettings::default() };
        /// Simulations per move at the start of the run.
        pub simulations: u32 = 64, 1..=1_000_000;
        /// Simulations per move at the end of the run, approached linearly; 0: as many as at the start.
        pub final_simulations: u32 = 0, 0..=1_000_000;
        /// PUCT: total concentration of the root's Dirichlet noise, spread over the legal actions.
        pub noise_concentration: f32 = 10.0, 1e-3..=1e4;
        /// PUCT: share of the noise in the root's priors; 0: no noise.
        pub noise_fraction: f32 = 0.25, 0.0..=1.0;
        /// PUCT: weight of forced playouts, whose visits are pruned from the policy target; 0: none.
        pub forced_playouts: f32 = 2.0, 0.0..=100.0;
        /// `proof_nodes` of the trained agent in matches; 0: as in self-play.
        pub play_proof_nodes: u32 = 0, 0..=100_000;
    }
}

impl From<SearchKind> for SearchConfig {
    fn from(method: SearchKind) -> Self {
        let plain = Self::default();
        Self { constants: SearchSettings { method, ..plain.constants }, ..plain }
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
    pub fn self_play(&self, temperature: f32) -> SearchOptions {
        let mut options = self.constants.strongest(self.simulations);
        match &mut options.method {
            Method::Puct(puct) => {
                let noise = RootNoise { concentration: self.noise_concentration, fraction: self.noise_fraction };
                puct.noise = (noise.fraction > 0.0).then_some(noise);
                puct.forced_playouts = self.forced_playouts;
            }
            Method::Gumbel(gumbel) => gumbel.gumbel_scale = temperature,
        }
        options
    }

    /// Settings stored in the run's checkpoints, so that a network is played with the search it was trained with.
    #[must_use]
    pub fn at_play(&self) -> SearchSettings {
        let in_self_play = self.constants.proof_nodes;
        let proof_nodes = if self.play_proof_nodes == 0 { in_self_play } else { self.play_proof_nodes };
        SearchSettings { considered: None, proof_nodes, ..self.constants }
    }
}

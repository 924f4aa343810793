//! The `[learn]` section.

use serde::{Deserialize, Serialize};
use turnstone_base::machine::or_all_cores;
use turnstone_models::{ComputeDevice, OptimiserConfig};

use crate::targets::TargetSpec;
use turnstone_selfplay::config::within;
use turnstone_selfplay::section;

section! {
    /// `[learn]`: learner and replay window.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct LearnConfig as "learn" {
        /// Positions per learner step.
        pub batch: usize = 256, 1..=65_536;
        /// What the gradients are computed on.
        pub device: ComputeDevice = OptimiserConfig::default().device;
        /// Threads of a learner step; 0 selects one per core. The number does not change any result.
        pub threads: usize = 0, 0..=1024;
        /// Peak learning rate of AdamW.
        pub learning_rate: f64 = 2e-3, 1e-8..=1.0;
        /// Learning rate at the end of the run, reached by cosine decay.
        pub final_learning_rate: f64 = 2e-4;
        /// Learner steps of linear warm-up.
        pub warmup_steps: u64 = 100, 0..=1_000_000_000;
        /// Mean number of times that each new position is drawn.
        pub samples_per_position: f64 = 4.0, 0.01..=1000.0;
        /// Initial size of the replay window in positions. It grows with a power of the number of positions.
        pub window: usize = 20_000, 1..=100_000_000;
        /// Maximum size of the replay window in positions.
        pub max_window: usize = 400_000;
        /// Share of the search's root value in the value target, 0 to 1. The rest is the game's result.
        pub root_value_share: f32 = 0.5, 0.0..=1.0;
        /// Targets beside policy and outcome, of those that the program has added.
        pub targets: Vec<TargetSpec> = Vec::new();
        /// Whether each drawn position is transformed by a random symmetry of the board.
        pub augment: bool = true;
        /// Decoupled weight decay, applied to matrices only.
        pub weight_decay: f64 = OptimiserConfig::default().weight_decay;
        /// Norm to which the gradient of all parameters together is clipped.
        pub clip_norm: f64 = OptimiserConfig::default().clip_norm;
        /// Decay per step of the exponential moving average of the weights, which is used for play and exported.
        pub ema_decay: f64 = OptimiserConfig::default().ema_decay;
    }
}

impl LearnConfig {
    /// Returns the number of threads, with 0 resolved to one per core.
    #[must_use]
    pub fn threads(&self) -> usize {
        or_all_cores(self.threads)
    }

    /// Returns the optimiser's constants.
    #[must_use]
    pub fn optimiser(&self) -> OptimiserConfig {
        OptimiserConfig {
            device: self.device,
            weight_decay: self.weight_decay,
            clip_norm: self.clip_norm,
            ema_decay: self.ema_decay,
            further: self.targets.iter().map(TargetSpec::objective).collect(),
            ..OptimiserConfig::default()
        }
    }

    /// Checks the range of every value.
    pub(super) fn validate(&self) -> Result<(), String> {
        self.check_ranges()?;
        within("learn.final_learning_rate", &self.final_learning_rate, &(0.0..=self.learning_rate))?;
        within("learn.max_window", &self.max_window, &(self.window..=100_000_000))?;
        self.optimiser().validate().map_err(|e| format!("learn.{e}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_optimiser_has_the_constants_of_the_config() {
        let config = LearnConfig { weight_decay: 0.01, clip_norm: 2.0, ema_decay: 0.9, ..LearnConfig::default() };
        let OptimiserConfig { weight_decay, clip_norm, ema_decay, .. } = config.optimiser();
        assert_eq!([weight_decay, clip_norm, ema_decay], [0.01, 2.0, 0.9]);
    }
}

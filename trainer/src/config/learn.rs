//! The `[learn]` section.

use std::ops::Bound;

use serde::Serialize;
use turnstone_base::machine::or_all_cores;
use turnstone_base::settings;
use turnstone_base::settings::{Fault, Settings};
use turnstone_models::{ComputeDevice, Optimiser, OptimiserConfig};

use crate::targets::TargetSpec;

settings! {
    /// Learning from the cross-entropies of policy and win/draw/loss and on the losses of other targets, and the replay window.
    #[derive(Clone, PartialEq, Debug, Serialize)]
    pub struct LearnConfig {
        /// Positions per step.
        pub batch: usize = 256, 1..=65_536;
        /// `muon` for the matrices of hidden layers and AdamW for the rest, or AdamW alone.
        pub optimiser: Optimiser;
        /// Device that computes the gradients; the optimiser always runs on the processor.
        pub device: ComputeDevice = OptimiserConfig::default().device;
        /// Threads of a step; 0: one per core. Does not change any result.
        pub threads: usize = 0, 0..=1024;
        /// Peak learning rate, after linear warm-up.
        pub learning_rate: f64 = 2e-3, 1e-8..=1.0;
        /// Learning rate at the end of the run, approached along a cosine; at most the peak rate.
        pub final_learning_rate: f64 = 2e-4, 0.0..=1.0;
        /// Steps of warm-up.
        pub warmup_steps: u64 = 100, 0..=1_000_000_000;
        /// How often each new position is drawn, on average.
        pub samples_per_position: f64 = 4.0, 0.01..=1000.0;
        /// First number of positions in the replay window; it grows with the 0.75th power of the data.
        pub window: usize = 20_000, 1..=100_000_000;
        /// Greatest number of positions in the window; a position takes 4 bytes per feature.
        pub max_window: usize = 400_000, 1..=100_000_000;
        /// Share of the search's root value in the value target; the rest is the game's result.
        pub root_value_share: f32 = 0.5, 0.0..=1.0;
        /// Targets besides policy and outcome, of those that the program has added: `["ending"]`, or with a weight,
        /// `["ending:weight=0.3"]`.
        pub targets: Vec<TargetSpec>;
        /// Whether each drawn position is mapped by a random symmetry of the board.
        pub augment: bool = true;
        /// Decoupled weight decay of matrices, times the learning rate per step.
        pub weight_decay: f64 = OptimiserConfig::default().weight_decay, 0.0..=1.0;
        /// Greatest norm of the gradient of all parameters together; infinite to disable clipping.
        pub clip_norm: f64 = OptimiserConfig::default().clip_norm, (Bound::Excluded(0.0), Bound::Unbounded);
        /// Decay per step of the averaged weights, which play and are exported; step `t` uses at most `(1 + t) / (10 + t)`.
        pub ema_decay: f64 = OptimiserConfig::default().ema_decay, 0.0..1.0;
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
            optimiser: self.optimiser,
            device: self.device,
            weight_decay: self.weight_decay,
            clip_norm: self.clip_norm,
            ema_decay: self.ema_decay,
            further: self.targets.iter().map(TargetSpec::objective).collect(),
        }
    }

    /// Checks every value.
    pub(super) fn validate(&self) -> Result<(), Fault> {
        self.check()?;
        if self.final_learning_rate > self.learning_rate {
            return Err(Fault::misfit("final_learning_rate", self.final_learning_rate, "at most learning_rate"));
        }
        if self.max_window < self.window {
            return Err(Fault::misfit("max_window", self.max_window, "at least window"));
        }
        Ok(())
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

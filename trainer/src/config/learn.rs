//! The `[learn]` section.

use serde::{Deserialize, Serialize};
use turnstone_base::machine::or_all_cores;
use turnstone_models::{ComputeDevice, OptimiserConfig};

use turnstone_selfplay::config::within;

/// `[learn]`: learner and replay window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearnConfig {
    /// Positions per learner step.
    pub batch: usize,
    /// What the gradients are computed on.
    pub device: ComputeDevice,
    /// Threads of a learner step; 0 selects one per core. The number does not change any result.
    pub threads: usize,
    /// Peak learning rate of AdamW.
    pub learning_rate: f64,
    /// Learning rate at the end of the run, reached by cosine decay.
    pub final_learning_rate: f64,
    /// Learner steps of linear warm-up.
    pub warmup_steps: u64,
    /// Mean number of times that each new position is drawn.
    pub samples_per_position: f64,
    /// Initial size of the replay window in positions. It grows with a power of the number of positions.
    pub window: usize,
    /// Maximum size of the replay window in positions.
    pub max_window: usize,
    /// Share of the search's root value in the value target, 0 to 1. The rest is the game's result.
    pub root_value_share: f32,
    /// Whether each drawn position is transformed by a random symmetry of the board.
    pub augment: bool,
    /// Decoupled weight decay, applied to matrices only.
    pub weight_decay: f64,
    /// Norm to which the gradient of all parameters together is clipped.
    pub clip_norm: f64,
    /// Decay per step of the exponential moving average of the weights, which is used for play and exported.
    pub ema_decay: f64,
}

impl Default for LearnConfig {
    fn default() -> Self {
        let optimiser = OptimiserConfig::default();
        Self {
            batch: 256,
            device: optimiser.device,
            threads: 0,
            learning_rate: 2e-3,
            final_learning_rate: 2e-4,
            warmup_steps: 100,
            samples_per_position: 4.0,
            window: 20_000,
            max_window: 400_000,
            root_value_share: 0.5,
            augment: true,
            weight_decay: optimiser.weight_decay,
            clip_norm: optimiser.clip_norm,
            ema_decay: optimiser.ema_decay,
        }
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
            ..OptimiserConfig::default()
        }
    }

    /// Checks the range of every value.
    pub(super) fn validate(&self) -> Result<(), String> {
        within("learn.batch", self.batch, 1, 65_536)?;
        within("learn.threads", self.threads, 0, 1024)?;
        within("learn.learning_rate", self.learning_rate, 1e-8, 1.0)?;
        within("learn.final_learning_rate", self.final_learning_rate, 0.0, self.learning_rate)?;
        within("learn.warmup_steps", self.warmup_steps, 0, 1_000_000_000)?;
        within("learn.samples_per_position", self.samples_per_position, 0.01, 1000.0)?;
        within("learn.window", self.window, 1, 100_000_000)?;
        within("learn.max_window", self.max_window, self.window, 100_000_000)?;
        within("learn.root_value_share", self.root_value_share, 0.0, 1.0)?;
        self.optimiser().validate().map_err(|e| format!("learn.{e}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_optimiser_has_the_constants_of_the_config() {
        let config = LearnConfig { weight_decay: 0.01, clip_norm: 2.0, ema_decay: 0.9, ..LearnConfig::default() };
        let expected =
            OptimiserConfig { weight_decay: 0.01, clip_norm: 2.0, ema_decay: 0.9, ..OptimiserConfig::default() };
        assert_eq!(config.optimiser(), expected);
    }
}

//! `[learn]`: the learner.

use serde::{Deserialize, Serialize};
use turnstone_env::Spec;
use turnstone_models::OptimiserConfig;

use turnstone_selfplay::config::{or_all_cores, within};

/// `[learn]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearnConfig {
    /// Positions per step.
    pub batch: usize,
    /// Threads of a step; 0 means one per core. Their number changes no result.
    pub threads: usize,
    /// Peak learning rate of AdamW.
    pub learning_rate: f64,
    /// Learning rate at the end of the run; cosine decay leads to it.
    pub final_learning_rate: f64,
    /// Steps of linear warm-up.
    pub warmup_steps: u64,
    /// How often each new position is drawn, on average.
    pub samples_per_position: f64,
    /// Positions in the replay window at the start; it grows with a power of the data.
    pub window: usize,
    /// The largest replay window.
    pub max_window: usize,
    /// Share of the search's root value in the value target; the rest is the game's result.
    pub root_value_share: f32,
    /// Whether positions are mapped by a random symmetry of the board.
    pub augment: bool,
    /// Decoupled weight decay of matrices.
    pub weight_decay: f64,
    /// Largest norm of the whole gradient.
    pub clip_norm: f64,
    /// Decay of the averaged weights, which play and are exported.
    pub ema_decay: f64,
    /// Weight of the value loss.
    pub value_weight: f64,
    /// Weight of the squared error of the final margin, an auxiliary target; 0 does not learn it.
    pub margin_weight: f64,
    /// Weight of the squared error of the plies left, an auxiliary target; 0 does not learn it.
    pub plies_left_weight: f64,
}

impl Default for LearnConfig {
    fn default() -> Self {
        let optimiser = OptimiserConfig::default();
        Self {
            batch: 256,
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
            value_weight: optimiser.value_weight,
            margin_weight: optimiser.margin_weight,
            plies_left_weight: optimiser.plies_left_weight,
        }
    }
}

impl LearnConfig {
    /// Threads in force.
    #[must_use]
    pub fn threads(&self) -> usize {
        or_all_cores(self.threads)
    }

    /// The optimiser's constants.
    #[must_use]
    pub fn optimiser(&self) -> OptimiserConfig {
        OptimiserConfig {
            weight_decay: self.weight_decay,
            clip_norm: self.clip_norm,
            ema_decay: self.ema_decay,
            value_weight: self.value_weight,
            margin_weight: self.margin_weight,
            plies_left_weight: self.plies_left_weight,
            ..OptimiserConfig::default()
        }
    }

    /// Checks every value against what the game has.
    pub(super) fn validate(&self, spec: &Spec) -> Result<(), String> {
        within("learn.batch", self.batch, 1, 65_536)?;
        within("learn.threads", self.threads, 0, 1024)?;
        within("learn.learning_rate", self.learning_rate, 1e-8, 1.0)?;
        within("learn.final_learning_rate", self.final_learning_rate, 0.0, self.learning_rate)?;
        within("learn.warmup_steps", self.warmup_steps, 0, 1_000_000_000)?;
        within("learn.samples_per_position", self.samples_per_position, 0.01, 1000.0)?;
        within("learn.window", self.window, 1, 100_000_000)?;
        within("learn.max_window", self.max_window, self.window, 100_000_000)?;
        within("learn.root_value_share", self.root_value_share, 0.0, 1.0)?;
        self.optimiser().validate().map_err(|e| format!("learn.{e}"))?;
        if self.margin_weight > 0.0 && spec.margin_scale.is_none() {
            return Err(format!(
                "learn.margin_weight is {}, but {} has no margin to learn",
                self.margin_weight, spec.name
            ));
        }
        Ok(())
    }
}

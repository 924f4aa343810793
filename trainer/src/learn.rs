//! Training batches from the replay window, and the learner's schedules.

use rand::RngExt;
use turnstone_base::streams::Stream;
use turnstone_env::{Outcome, Spec};
use turnstone_models::{Example, TrainingBatch};

use crate::config::LearnConfig;
use turnstone_agents::shape;
use turnstone_selfplay::replay::{Position, Window};

/// Draws training batches from a replay window.
#[derive(Debug)]
pub struct BatchMaker<'a> {
    spec: &'a Spec,
    config: &'a LearnConfig,
    batch: TrainingBatch,
    inputs: Vec<f32>,
    legal: Vec<bool>,
    policy: Vec<f32>,
}

impl<'a> BatchMaker<'a> {
    /// Creates a batch maker for a game with this spec.
    #[must_use]
    pub fn new(spec: &'a Spec, config: &'a LearnConfig) -> Self {
        Self {
            spec,
            config,
            batch: TrainingBatch::new(shape(spec)),
            inputs: vec![0.0; spec.features()],
            legal: vec![false; spec.actions],
            policy: vec![0.0; spec.actions],
        }
    }

    /// Draws a batch of positions uniformly at random, each transformed by a random symmetry if the config enables it.
    pub fn draw(&mut self, window: &Window, rng: &mut Stream) -> &TrainingBatch {
        self.batch.clear();
        for _ in 0..self.config.batch {
            let position = window.sample(rng);
            let symmetries = if self.config.augment { self.spec.symmetries.len() } else { 1 };
            self.push(&position, rng.random_range(0..symmetries));
        }
        &self.batch
    }

    fn push(&mut self, position: &Position<'_>, symmetry: usize) {
        let symmetry = &self.spec.symmetries[symmetry];
        symmetry.apply_to_features(position.features, &mut self.inputs);
        self.legal.fill(false);
        self.policy.fill(0.0);
        for (&index, &share) in position.policy_indices.iter().zip(position.policy) {
            let image = usize::from(symmetry.actions[usize::from(index)]);
            self.legal[image] = true;
            self.policy[image] = share;
        }
        let value = value_target(position, self.config.root_value_share);
        let example = Example { inputs: &self.inputs, legal: &self.legal, policy: &self.policy, value };
        self.batch.push(example).expect("positions of self-play are sound examples");
    }
}

/// Value target: probabilities of win, draw and loss for the mover, `(1 - root_share)` times the game's result plus
/// `root_share` times the root evaluation of the search.
fn value_target(position: &Position<'_>, root_share: f32) -> [f32; 3] {
    let result = Outcome::by_margin(position.result.into()).value_for(position.mover);
    let played = [1, 0, -1].map(|r| f32::from(u8::from(r == result)));
    let searched = position.root.win_draw_loss(position.mover);
    let sum: f32 = searched.iter().sum();
    std::array::from_fn(|i| (1.0 - root_share) * played[i] + root_share * searched[i] / sum)
}

/// Learning rate of step `step` (from 0) at `progress` (0..=1) through the run: a cosine from the peak to the final
/// rate, multiplied by a linear warm-up.
#[must_use]
pub fn learning_rate(config: &LearnConfig, step: u64, progress: f64) -> f64 {
    let warmup = (step + 1) as f64 / config.warmup_steps.max(1) as f64;
    let cosine = 0.5 * (1.0 + (std::f64::consts::PI * progress.clamp(0.0, 1.0)).cos());
    let decayed = config.final_learning_rate + (config.learning_rate - config.final_learning_rate) * cosine;
    decayed * warmup.min(1.0)
}

/// Number of learner steps due after `positions` positions of self-play.
#[must_use]
pub fn steps_due(config: &LearnConfig, positions: u64) -> u64 {
    (positions as f64 * config.samples_per_position / config.batch as f64) as u64
}

#[cfg(test)]
mod batch_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::Side;
    use turnstone_search::Evaluation;

    fn position(mover: Side, result: i8) -> Position<'static> {
        Position {
            features: &[],
            policy_indices: &[],
            policy: &[],
            mover,
            root: Evaluation { value: 0.5, draw: 0.2 },
            result,
            margin: 12 * i16::from(result),
            plies_left: 30,
        }
    }

    #[test]
    fn value_targets_are_for_the_mover() {
        assert_eq!(value_target(&position(Side::First, 1), 0.0), [1.0, 0.0, 0.0]);
        assert_eq!(value_target(&position(Side::Second, 1), 0.0), [0.0, 0.0, 1.0]);
        assert_eq!(value_target(&position(Side::Second, 0), 0.0), [0.0, 1.0, 0.0]);
        let [win, draw, loss] = value_target(&position(Side::Second, -1), 1.0);
        assert!((win - 0.15).abs() < 1e-6 && (draw - 0.2).abs() < 1e-6 && (loss - 0.65).abs() < 1e-6);
    }

    #[test]
    fn the_learning_rate_warms_up_and_decays() {
        let config =
            LearnConfig { learning_rate: 1e-2, final_learning_rate: 1e-3, warmup_steps: 10, ..Default::default() };
        assert!((learning_rate(&config, 0, 0.0) - 1e-3).abs() < 1e-12);
        assert!((learning_rate(&config, 9, 0.0) - 1e-2).abs() < 1e-12);
        assert!((learning_rate(&config, 500, 0.5) - 5.5e-3).abs() < 1e-12);
        assert!((learning_rate(&config, 500, 1.0) - 1e-3).abs() < 1e-12);
    }
}

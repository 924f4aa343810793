//! Training batches from the replay window, and the learner's schedules.

use rand::RngExt;
use turnstone_base::streams::Stream;
use turnstone_env::Spec;
use turnstone_models::{BatchError, Example, OUTCOMES, StepReport, TargetShape, TrainingBatch};

use crate::config::LearnConfig;
use crate::targets::{Moment, Row, Source, TargetSpec, outcome, policy};
use turnstone_agents::shape;
use turnstone_selfplay::replay::{Shard, Window};

/// Draws training batches from a replay window.
#[derive(Debug)]
pub struct BatchMaker<'a> {
    spec: &'a Spec,
    config: &'a LearnConfig,
    batch: TrainingBatch,
    inputs: Vec<f32>,
    /// How the rows of each head are written.
    sources: Vec<(TargetShape, Source)>,
    rows: Vec<Vec<f32>>,
}

impl<'a> BatchMaker<'a> {
    /// Creates a batch maker for a game with this spec.
    #[must_use]
    pub fn new(spec: &'a Spec, config: &'a LearnConfig) -> Self {
        let shape = shape(spec);
        let mut sources: Vec<(TargetShape, Source)> =
            vec![(TargetShape::Actions, policy), (TargetShape::Classes(OUTCOMES), outcome)];
        sources.extend(config.targets.iter().map(TargetSpec::source));
        let rows = sources.iter().map(|(of_head, _)| vec![0.0; of_head.numbers(&shape)]).collect();
        let batch = TrainingBatch::with_heads(shape, &config.optimiser().heads());
        Self { spec, config, batch, inputs: vec![0.0; spec.features()], sources, rows }
    }

    /// Draws a batch of positions uniformly at random, each transformed by a random symmetry if the config enables it.
    ///
    /// # Errors
    /// A target of the config gives a number that is not finite.
    pub fn draw(&mut self, window: &Window, rng: &mut Stream) -> Result<&TrainingBatch, BatchError> {
        self.batch.clear();
        for _ in 0..self.config.batch {
            let (shard, index) = window.sample(rng);
            let symmetries = if self.config.augment { self.spec.symmetries.len() } else { 1 };
            self.push(shard, index, rng.random_range(0..symmetries))?;
        }
        Ok(&self.batch)
    }

    fn push(&mut self, shard: &Shard, index: usize, symmetry: usize) -> Result<(), BatchError> {
        let symmetry = &self.spec.symmetries[symmetry];
        let at = Moment { spec: self.spec, shard, index, root_value_share: self.config.root_value_share };
        symmetry.apply_to_features(at.now().features, &mut self.inputs);
        let rows = self.sources.iter().zip(&mut self.rows).map(|(&(shape, source), numbers)| {
            numbers.fill(0.0);
            source(&at, &mut Row::new(numbers, shape, symmetry)).map(|()| &numbers[..])
        });
        self.batch.push(Example { inputs: &self.inputs, targets: &rows.collect::<Vec<_>>() })
    }
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

/// Means over the steps' reports; `None` without any.
#[must_use]
pub fn mean_report(reports: &[StepReport]) -> Option<StepReport> {
    let names = reports.first()?.targets.keys();
    let mean = |field: &dyn Fn(&StepReport) -> f64| reports.iter().map(field).sum::<f64>() / reports.len() as f64;
    Some(StepReport {
        policy_loss: mean(&|r| r.policy_loss),
        value_loss: mean(&|r| r.value_loss),
        targets: names.map(|name| (name.clone(), mean(&|r| r.targets[name]))).collect(),
        total_loss: mean(&|r| r.total_loss),
        policy_divergence: mean(&|r| r.policy_divergence),
        policy_entropy: mean(&|r| r.policy_entropy),
        gradient_norm: mean(&|r| r.gradient_norm),
    })
}

#[cfg(test)]
mod batch_tests;

#[cfg(test)]
mod tests {
    use super::*;
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

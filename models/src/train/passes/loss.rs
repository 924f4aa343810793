//! The loss of a part of a batch, and its gradients by the outputs.
//!
//! The definitions are those of [`masked_loss`](crate::masked_loss), in closed form: by the logits, the gradient of a
//! cross-entropy is the probabilities minus the targets.

use std::ops::Range;

use super::sparse::Selection;
use crate::config::OUTCOMES;
use crate::train::batch::TrainingBatch;

/// The outputs of a network for some positions, and then the gradients of the loss by them.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    /// `[positions, actions]`.
    pub(super) policy: Vec<f32>,
    /// `[positions, 3]`.
    pub(super) value: Vec<f32>,
    /// The legal actions of each position.
    pub(super) legal: Selection,
}

/// Sums over positions; cross-entropies and entropies in nats.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LossSums {
    /// Cross-entropies of the masked policy against its target.
    pub(crate) policy: f64,
    /// Cross-entropies of win, draw and loss against their targets.
    pub(crate) value: f64,
    /// Entropies of the masked policy.
    pub(crate) policy_entropy: f64,
    /// Entropies of the policy's targets.
    pub(crate) target_entropy: f64,
}

impl LossSums {
    /// Adds the sums over other positions.
    pub(crate) fn add(&mut self, other: &LossSums) {
        self.policy += other.policy;
        self.value += other.value;
        self.policy_entropy += other.policy_entropy;
        self.target_entropy += other.target_entropy;
    }
}

impl Outputs {
    /// Makes room for some `rows` of a batch.
    pub(super) fn prepare(&mut self, batch: &TrainingBatch, rows: &Range<usize>) {
        let (positions, actions) = (rows.len(), batch.shape().actions);
        self.legal.mark(&batch.legal()[rows.start * actions..rows.end * actions], actions);
        self.policy.resize(positions * actions, 0.0);
        self.value.resize(positions * OUTCOMES, 0.0);
    }

    /// Replaces the outputs for some `rows` of a batch by the gradients of the batch's mean loss.
    pub(super) fn differentiate(&mut self, batch: &TrainingBatch, rows: Range<usize>, value_weight: f64) -> LossSums {
        let (mut sums, share) = (LossSums::default(), 1.0 / batch.len() as f32);
        let actions = batch.shape().actions;
        let targets = batch.policy()[rows.start * actions..].chunks_exact(actions);
        let mut probabilities = Vec::new();
        for ((logits, target), legal) in self.policy.chunks_exact_mut(actions).zip(targets).zip(self.legal.rows()) {
            let of_row = cross_entropy(logits, target, legal, share, &mut probabilities);
            sums.policy += of_row.loss;
            sums.policy_entropy += of_row.entropy;
            sums.target_entropy += of_row.target_entropy;
        }
        let share_of_value = share * value_weight as f32;
        let targets = batch.value()[rows.start * OUTCOMES..].chunks_exact(OUTCOMES);
        for (logits, target) in self.value.chunks_exact_mut(OUTCOMES).zip(targets) {
            sums.value += cross_entropy(logits, target, &[0, 1, 2], share_of_value, &mut probabilities).loss;
        }
        sums
    }
}

/// A cross-entropy, and the entropies of the distribution and of its target.
struct CrossEntropy {
    loss: f64,
    entropy: f64,
    target_entropy: f64,
}

/// Replaces logits by `share` times the gradient of the cross-entropy of the distribution over the `allowed` entries
/// against `target`, zero for all other entries. `exponentials` is room.
fn cross_entropy(
    logits: &mut [f32],
    target: &[f32],
    allowed: &[usize],
    share: f32,
    exponentials: &mut Vec<(f32, f32)>,
) -> CrossEntropy {
    // A NaN passes through, so that it reaches the loss.
    let largest = allowed.iter().map(|&i| logits[i]).fold(f32::NEG_INFINITY, |a, b| if b <= a { a } else { b });
    exponentials.clear();
    exponentials.extend(allowed.iter().map(|&i| logits[i] - largest).map(|below| (below, below.exp())));
    let sum: f64 = exponentials.iter().map(|&(_, exponential)| f64::from(exponential)).sum();
    let (logarithm, target_sum) = (sum.ln(), allowed.iter().map(|&i| f64::from(target[i])).sum::<f64>());
    logits.fill(0.0);
    let mut result = CrossEntropy { loss: 0.0, entropy: 0.0, target_entropy: 0.0 };
    for (&i, &(below, exponential)) in allowed.iter().zip(exponentials.iter()) {
        let (t, log_probability) = (target[i], f64::from(below) - logarithm);
        let probability = f64::from(exponential) / sum;
        result.loss -= f64::from(t) * log_probability;
        result.entropy -= probability * log_probability;
        result.target_entropy -= if t > 0.0 { f64::from(t * t.ln()) } else { 0.0 };
        logits[i] = share * (probability * target_sum - f64::from(t)) as f32;
    }
    result
}

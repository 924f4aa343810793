//! The loss of some positions of a batch, and its gradients by the logits.
//!
//! The definitions are those of [`batch_loss`](crate::batch_loss), in closed form: by the logits, the gradient of a
//! cross-entropy is the probabilities minus the targets.

use std::ops::Range;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Flex};
use burn::tensor::TensorData;

use super::legal::LegalActions;
use super::workspace::{Numbers, Workspace, contiguous, numbers, owned};
use crate::network::{OUTCOMES, POLICY, VALUE};
use crate::train::batch::TrainingBatch;
use crate::train::loss::LossSums;

/// Targets of the logits of some positions.
#[derive(Debug, Clone)]
pub(crate) struct Targets<'a> {
    pub(crate) batch: &'a TrainingBatch,
    /// The positions.
    pub(crate) rows: Range<usize>,
    /// Their legal actions.
    pub(crate) legal: &'a LegalActions,
    pub(crate) workspace: &'a Workspace,
}

/// Computes the share of the positions in the batch's mean loss, and its gradients by the logits, in place of them.
pub(super) fn forward(policy: Numbers, value: Numbers, targets: &Targets<'_>) -> (Numbers, [Numbers; 2]) {
    let [mut policy, mut value] = [owned(policy), owned(value)];
    let (policy_logits, value_logits, mut loss) = (policy.storage_mut(), value.storage_mut(), 0.0);
    targets.workspace.for_each_part(|sums, share| {
        let (policy, value) = (share.of_mut(policy_logits), share.of_mut(value_logits));
        let losses = differentiate(policy, value, share.positions, targets);
        sums.losses.add(&losses);
        loss += losses.heads.iter().sum::<f64>() / targets.batch.len() as f64;
    });
    (Numbers::from_data(TensorData::from([loss as f32])), [policy, value])
}

/// [`forward`], recorded with the nodes of policy and value.
pub(super) fn record<C: CheckpointStrategy>(
    nodes: [NodeGuard; 2],
    policy: Numbers,
    value: Numbers,
    targets: &Targets<'_>,
) -> FloatTensor<Autodiff<Flex, C>> {
    let (loss, gradients) = forward(policy, value, targets);
    match Backwards.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => prepared.finish(gradients, loss),
        OpsKind::UnTracked(prepared) => prepared.finish(loss),
    }
}

#[derive(Debug)]
struct Backwards;

impl Backward<Flex, 2> for Backwards {
    /// The gradients of the loss by the logits of policy and value.
    type State = [Numbers; 2];

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let d = contiguous(grads.consume::<Flex>(&ops.node));
        let factor = numbers(&d)[0];
        for (parent, mut slope) in ops.parents.into_iter().zip(ops.state) {
            let Some(parent) = parent else { continue };
            slope.storage_mut::<f32>().iter_mut().for_each(|slope| *slope *= factor);
            grads.register::<Flex>(parent.id, slope);
        }
    }
}

/// Replaces the logits of some positions by the gradients of the batch's mean loss. Returns the sums over them.
fn differentiate(policy: &mut [f32], value: &mut [f32], positions: Range<usize>, targets: &Targets<'_>) -> LossSums {
    let &Targets { batch, ref rows, legal, .. } = targets;
    let (first, legal) = (rows.start + positions.start, legal.rows().skip(positions.start));
    let mut sums = LossSums { heads: vec![0.0; VALUE + 1], ..LossSums::default() };
    let share = 1.0 / batch.len() as f32;
    let actions = batch.shape().actions;
    let wanted = batch.policy()[first * actions..].chunks_exact(actions);
    let mut room = Vec::new();
    for ((logits, target), legal) in policy.chunks_exact_mut(actions).zip(wanted).zip(legal) {
        let of_row = cross_entropy(logits, target, legal, share, &mut room);
        sums.heads[POLICY] += of_row.loss;
        sums.policy_entropy += of_row.entropy;
        sums.target_entropy += of_row.target_entropy;
    }
    let wanted = batch.value()[first * OUTCOMES..].chunks_exact(OUTCOMES);
    for (logits, target) in value.chunks_exact_mut(OUTCOMES).zip(wanted) {
        sums.heads[VALUE] += cross_entropy(logits, target, &[0, 1, 2], share, &mut room).loss;
    }
    sums
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

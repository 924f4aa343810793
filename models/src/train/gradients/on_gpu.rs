//! Gradients by burn's autodiff on a GPU: the whole batch at once, and one copy back for all numbers.

use burn::tensor::{Device, Tensor};

use crate::error::NetworkError;
use crate::train::batch::TrainingBatch;
use crate::train::gpu::{burn_device, read};
use crate::train::loss::{Loss, LossWeights, masked_loss, matrix};
use crate::train::network::PolicyValueNet;
use crate::train::passes::LossSums;
use crate::train::state::LearnerState;
use crate::weights::Weights;

/// A GPU, and the gradients of the last batch.
#[derive(Debug)]
pub(in crate::train) struct GpuGradients {
    device: Device,
    gradients: Weights,
}

impl GpuGradients {
    pub(super) fn new(state: &LearnerState, number: usize) -> Result<GpuGradients, NetworkError> {
        Ok(GpuGradients { device: burn_device(number)?.autodiff(), gradients: state.weights.zeros_like() })
    }

    pub(super) fn differentiate(
        &mut self,
        state: &LearnerState,
        batch: &TrainingBatch,
        weights: &LossWeights,
    ) -> Result<(LossSums, &Weights), NetworkError> {
        let rows = batch.len() as f64;
        let net = PolicyValueNet::new(&state.network, &state.shape, &state.weights, &self.device)?;
        let output = net.forward(matrix(batch.inputs(), batch.shape().inputs, &self.device));
        let loss = masked_loss(output, batch, weights, &self.device);
        let gradients = loss.total.backward();
        let losses = losses(loss);
        let auxiliary = losses.len() - FIRST_AUXILIARY;
        let numbers = read(Tensor::cat(losses.into_iter().chain(net.flat_gradients(&gradients)).collect(), 0))?;
        let (losses, mut rest) = numbers.split_at(FIRST_AUXILIARY + auxiliary);
        for tensor in self.gradients.tensors_mut() {
            let (own, others) = rest.split_at(tensor.data.len());
            tensor.data.copy_from_slice(own);
            rest = others;
        }
        let mut named = losses[FIRST_AUXILIARY..].iter().map(|&loss| rows * f64::from(loss));
        let mut next = |weight: f64| if weight > 0.0 { named.next().unwrap_or_default() } else { 0.0 };
        let sums = LossSums {
            policy: rows * f64::from(losses[0]),
            value: rows * f64::from(losses[1]),
            auxiliary: [weights.margin, weights.plies_left].map(&mut next),
            policy_entropy: f64::from(losses[2]),
            target_entropy: rows * batch.policy_entropy(),
        };
        Ok((sums, &self.gradients))
    }
}

/// Number of losses before those of the auxiliary targets.
const FIRST_AUXILIARY: usize = 3;

/// The mean losses of policy and value, the sum of the entropies, and the mean losses of the auxiliary targets that are
/// learned.
fn losses(loss: Loss) -> Vec<Tensor<1>> {
    // Illegal actions have probability 0 and a finite logarithm.
    let entropy = -(loss.log_policy.clone().exp() * loss.log_policy).sum();
    let all = [Some(loss.policy), Some(loss.value), Some(entropy), loss.margin, loss.plies_left];
    all.into_iter().flatten().map(Tensor::inner).collect()
}

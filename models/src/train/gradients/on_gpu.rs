//! Gradients by burn's autodiff on a GPU: one graph for the whole batch, and one copy of all results to the host.

use burn::tensor::{Device, Tensor};

use crate::error::NetworkError;
use crate::train::batch::TrainingBatch;
use crate::train::gpu::{burn_device, read};
use crate::train::loss::{Loss, LossSums, masked_loss, matrix};
use crate::train::network::PolicyValueNet;
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
    ) -> Result<(LossSums, &Weights), NetworkError> {
        let rows = batch.len() as f64;
        let net = PolicyValueNet::new(&state.network, &state.shape, &state.weights, &self.device)?;
        let output = net.forward(matrix(batch.inputs(), batch.shape().inputs, &self.device));
        let loss = masked_loss(output, batch, &self.device);
        let gradients = loss.total.backward();
        let losses = losses(loss);
        let numbers = read(Tensor::cat(losses.into_iter().chain(net.flat_gradients(&gradients)).collect(), 0))?;
        let (losses, mut rest) = numbers.split_at(LOSSES);
        for tensor in self.gradients.tensors_mut() {
            let (own, others) = rest.split_at(tensor.data.len());
            tensor.data.copy_from_slice(own);
            rest = others;
        }
        let sums = LossSums {
            policy: rows * f64::from(losses[0]),
            value: rows * f64::from(losses[1]),
            policy_entropy: f64::from(losses[2]),
            target_entropy: rows * batch.policy_entropy(),
        };
        Ok((sums, &self.gradients))
    }
}

/// Number of losses that are copied back.
const LOSSES: usize = 3;

/// The mean losses of policy and value, and the sum of the entropies.
fn losses(loss: Loss) -> [Tensor<1>; LOSSES] {
    // Illegal actions have probability 0 and a finite logarithm.
    let entropy = -(loss.log_policy.clone().exp() * loss.log_policy).sum();
    [loss.policy, loss.value, entropy].map(Tensor::inner)
}

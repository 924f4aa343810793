//! Gradients by burn's autodiff on a GPU: one graph for the whole batch, and one copy of all results to the host.

use burn::tensor::{Device, Tensor};

use crate::error::NetworkError;
use crate::train::batch::TrainingBatch;
use crate::train::gpu::{burn_device, read};
use crate::train::loss::{LossSums, Objective, batch_loss, masked_log_policy, matrix};
use crate::train::network::PolicyValueNet;
use crate::train::state::LearnerState;
use crate::weights::Weights;

/// A GPU, and the gradients of the last batch.
#[derive(Debug)]
pub(in crate::train) struct GpuGradients {
    device: Device,
    further: Vec<Objective>,
    gradients: Weights,
}

impl GpuGradients {
    pub(super) fn new(
        state: &LearnerState,
        further: Vec<Objective>,
        number: usize,
    ) -> Result<GpuGradients, NetworkError> {
        Ok(GpuGradients { device: burn_device(number)?.autodiff(), further, gradients: state.weights.zeros_like() })
    }

    pub(super) fn differentiate(
        &mut self,
        state: &LearnerState,
        batch: &TrainingBatch,
    ) -> Result<(LossSums, &Weights), NetworkError> {
        let net = PolicyValueNet::of_state(state, &self.device)?;
        let output = net.forward(matrix(batch.inputs(), batch.shape().inputs, &self.device));
        let target = matrix(batch.policy(), batch.shape().actions, &self.device);
        let log_policy = masked_log_policy(output.policy.clone(), target);
        // Illegal actions have probability 0 and a finite logarithm.
        let entropy = -(log_policy.clone().exp() * log_policy).sum();
        let loss = batch_loss(output, batch, &self.further, &self.device);
        let gradients = loss.total.backward();
        let losses: Vec<Tensor<1>> = loss.heads.into_iter().chain([entropy]).map(Tensor::inner).collect();
        let count = losses.len();
        let numbers = read(Tensor::cat(losses.into_iter().chain(net.flat_gradients(&gradients)).collect(), 0))?;
        let (losses, mut rest) = numbers.split_at(count);
        for tensor in self.gradients.tensors_mut() {
            let (own, others) = rest.split_at(tensor.data.len());
            tensor.data.copy_from_slice(own);
            rest = others;
        }
        let means = batch.targets().iter().zip(losses);
        let sums = LossSums {
            heads: means.map(|(target, &mean)| target.examples() * f64::from(mean)).collect(),
            policy_entropy: f64::from(losses[count - 1]),
            target_entropy: batch.len() as f64 * batch.policy_entropy(),
        };
        Ok((sums, &self.gradients))
    }
}

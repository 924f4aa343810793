//! The training loss, with illegal actions masked out of the policy.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Bool, Device, Tensor, TensorData};

use super::batch::TrainingBatch;
use super::network::Output;
use crate::network::OUTCOMES;

/// The logit of illegal actions: so low that their probability is exactly zero, and finite so that its product with a
/// target of zero is zero.
pub const ILLEGAL_LOGIT: f32 = -1e9;

/// The loss of a batch and its parts, each of shape `[1]` and a mean over the rows. Cross-entropies are in nats.
#[derive(Debug)]
pub struct Loss {
    /// The weighted sum of the parts, which is minimised.
    pub total: Tensor<1>,
    /// Cross-entropy of the masked policy against its target.
    pub policy: Tensor<1>,
    /// Cross-entropy of win, draw and loss against their targets.
    pub value: Tensor<1>,
    /// Logarithms of the masked policy, `[batch, actions]`.
    pub log_policy: Tensor<2>,
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

/// Logarithms of the policy over the legal actions, `[batch, actions]`. Illegal actions have probability 0, and the
/// gradient of their logits is 0.
pub fn masked_log_policy(logits: Tensor<2>, illegal: Tensor<2, Bool>) -> Tensor<2> {
    log_softmax(logits.mask_fill(illegal, ILLEGAL_LOGIT), 1)
}

/// Computes the loss of the `output` for the inputs of `batch` against its targets: the sum of those of policy and value.
///
/// # Panics
/// If the batch is empty, or its shape differs from that of the output.
pub fn masked_loss(output: Output, batch: &TrainingBatch, device: &Device) -> Loss {
    let (rows, actions) = (batch.len(), batch.shape().actions);
    assert!(rows > 0, "an empty batch has no loss");
    let illegal: Vec<bool> = batch.legal().iter().map(|legal| !legal).collect();
    let illegal = Tensor::<2, Bool>::from_data(TensorData::new(illegal, [rows, actions]), device);
    let policy_target = matrix(batch.policy(), actions, device);
    let value_target = matrix(batch.value(), OUTCOMES, device);

    let log_policy = masked_log_policy(output.policy, illegal);
    let policy = cross_entropy(log_policy.clone(), policy_target);
    let value = cross_entropy(log_softmax(output.value, 1), value_target);
    let total = policy.clone() + value.clone();
    Loss { total, policy, value, log_policy }
}

/// Mean over the rows of `-sum(target * log_probability)`.
fn cross_entropy(log_probabilities: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
    let rows = targets.dims()[0] as f64;
    (log_probabilities * targets).sum().div_scalar(-rows)
}

/// Brings a row-major matrix with this number of columns to the device.
pub(crate) fn matrix(data: impl Into<Vec<f32>>, columns: usize, device: &Device) -> Tensor<2> {
    let data = data.into();
    let rows = data.len() / columns;
    Tensor::from_data(TensorData::new(data, [rows, columns]), device)
}

#[cfg(test)]
mod tests {
    use super::super::batch::Example;
    use super::super::network::PolicyValueNet;
    use super::*;
    use crate::kinds::{NetworkConfig, ResidualMlp};
    use crate::shape::Shape;
    use crate::weights::Weights;

    const SHAPE: Shape = Shape::flat(3, 4);

    fn read<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_into_vec().unwrap()
    }

    fn batch() -> TrainingBatch {
        let mut batch = TrainingBatch::new(SHAPE);
        let (a, b) = (&[1.0, -0.5, 0.25], &[-0.3, 0.8, 1.2]);
        let (policy_a, policy_b) = (&[0.1, 0.0, 0.6, 0.3], &[0.0, 0.0, 0.0, 1.0]);
        let legal_a = &[true, false, true, true];
        let legal_b = &[false, true, false, true];
        batch.push(Example { inputs: a, legal: legal_a, policy: policy_a, value: [0.2, 0.5, 0.3] }).unwrap();
        batch.push(Example { inputs: b, legal: legal_b, policy: policy_b, value: [0.0, 0.0, 1.0] }).unwrap();
        batch
    }

    #[test]
    fn illegal_actions_get_no_probability_and_no_gradient() {
        let device = Device::flex().autodiff();
        let logits = matrix([0.5, 90.0, -1.0, 2.0, 1e8, 0.0, 7.0, 0.0], 4, &device).require_grad();
        let value = matrix([0.0; 6], 3, &device);
        let batch = batch();
        let loss = masked_loss(Output { policy: logits.clone(), value }, &batch, &device);
        let gradients = loss.total.backward();
        let gradient = read(logits.grad(&gradients).unwrap());
        let probabilities: Vec<f32> = read(loss.log_policy).iter().map(|x| x.exp()).collect();
        for (index, &legal) in batch.legal().iter().enumerate() {
            assert_eq!(probabilities[index] > 0.0, legal, "{probabilities:?}");
            assert_eq!(gradient[index] != 0.0, legal, "{gradient:?}");
        }
        assert!((probabilities[5] - 0.5).abs() < 1e-6, "two equal legal logits: {probabilities:?}");
        assert!((read(loss.value)[0] - 3_f32.ln()).abs() < 1e-6);
    }

    /// The loss in plain `f64`, straight from the definitions: forward pass, mask, cross-entropies.
    fn reference_loss(parameters: &[Vec<f64>], blocks: usize, batch: &TrainingBatch) -> f64 {
        let dense = |x: &[f64], layer: usize, rectify: bool| -> Vec<f64> {
            let (weight, bias) = (&parameters[2 * layer], &parameters[2 * layer + 1]);
            let row = |out: usize| bias[out] + (0..x.len()).map(|i| x[i] * weight[i * bias.len() + out]).sum::<f64>();
            (0..bias.len()).map(|out| if rectify { row(out).max(0.0) } else { row(out) }).collect()
        };
        let surprise = |logits: &[f64], targets: &[f32], legal: &dyn Fn(usize) -> bool| -> f64 {
            let total: f64 = (0..logits.len()).filter(|&i| legal(i)).map(|i| logits[i].exp()).sum();
            (0..logits.len()).filter(|&i| legal(i)).map(|i| f64::from(targets[i]) * (total.ln() - logits[i])).sum()
        };
        let mut sum = 0.0;
        for row in 0..batch.len() {
            let inputs = &batch.inputs()[row * 3..][..3];
            let mut x = dense(&inputs.iter().map(|&x| f64::from(x)).collect::<Vec<_>>(), 0, true);
            for block in 0..blocks {
                let y = dense(&dense(&x, 1 + 2 * block, true), 2 + 2 * block, false);
                x = x.iter().zip(y).map(|(x, y)| (x + y).max(0.0)).collect();
            }
            let heads = 1 + 2 * blocks;
            let (policy, hidden) = (dense(&x, heads, false), dense(&x, heads + 1, true));
            sum += surprise(&policy, &batch.policy()[row * 4..], &|i| batch.legal()[row * 4 + i]);
            sum += surprise(&dense(&hidden, heads + 2, false), &batch.value()[row * 3..], &|_| true);
        }
        sum / batch.len() as f64
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let (batch, config) = (batch(), NetworkConfig::from(ResidualMlp { blocks: 2, width: 6 }));
        let mut layout = config.layout(&SHAPE).unwrap();
        layout.iter_mut().for_each(|spec| spec.deviation = 0.5); // biases and heads too, so that nothing vanishes
        let weights = Weights::random(&layout, 11);
        let device = Device::flex().autodiff();
        let net = PolicyValueNet::new(&config, &SHAPE, &weights, &device).unwrap();
        let loss = masked_loss(net.forward(matrix(batch.inputs(), 3, &device)), &batch, &device);
        let gradients = net.gradients(&layout, &loss.total.backward());

        let mut parameters: Vec<Vec<f64>> =
            weights.tensors().iter().map(|tensor| tensor.data.iter().map(|&x| f64::from(x)).collect()).collect();
        let here = reference_loss(&parameters, 2, &batch);
        assert!((f64::from(read(loss.total)[0]) - here).abs() < 1e-5);
        for (t, tensor) in gradients.tensors().iter().enumerate() {
            assert!(tensor.data.iter().any(|&g| g != 0.0), "{} has no gradient", tensor.name);
            for (i, &gradient) in tensor.data.iter().enumerate() {
                let mut at = |offset: f64| {
                    let saved =
                        std::mem::replace(&mut parameters[t][i], f64::from(weights.tensors()[t].data[i]) + offset);
                    let loss = reference_loss(&parameters, 2, &batch);
                    parameters[t][i] = saved;
                    loss
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - f64::from(gradient)).abs() < 1e-5, "{}[{i}]: {gradient} against {slope}", tensor.name);
            }
        }
    }
}

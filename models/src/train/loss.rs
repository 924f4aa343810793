//! The training loss, with illegal actions masked out of the policy.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Bool, Device, Tensor, TensorData};

use super::batch::TrainingBatch;
use super::network::Output;
use crate::config::{AUXILIARY, OUTCOMES};

/// The logit of illegal actions: so low that their probability is exactly zero, and finite so that its product with a
/// target of zero is zero.
pub const ILLEGAL_LOGIT: f32 = -1e9;

/// Weights of the parts of the loss; the policy has weight 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossWeights {
    /// Cross-entropy of win, draw and loss.
    pub value: f64,
    /// Squared error of the margin; 0 omits it.
    pub margin: f64,
    /// Squared error of the plies left; 0 omits it.
    pub plies_left: f64,
}

/// The loss of a batch and its parts, each of shape `[1]` and a mean over the rows. Cross-entropies are in nats.
#[derive(Debug)]
pub struct Loss {
    /// The weighted sum of the parts, which is minimised.
    pub total: Tensor<1>,
    /// Cross-entropy of the masked policy against its target.
    pub policy: Tensor<1>,
    /// Cross-entropy of win, draw and loss against their targets.
    pub value: Tensor<1>,
    /// Squared error of the scaled margin, if it has a weight.
    pub margin: Option<Tensor<1>>,
    /// Squared error of the scaled number of plies left, if it has a weight.
    pub plies_left: Option<Tensor<1>>,
    /// Logarithms of the masked policy, `[batch, actions]`.
    pub log_policy: Tensor<2>,
}

/// Logarithms of the policy over the legal actions, `[batch, actions]`. Illegal actions have probability 0, and the
/// gradient of their logits is 0.
pub fn masked_log_policy(logits: Tensor<2>, illegal: Tensor<2, Bool>) -> Tensor<2> {
    log_softmax(logits.mask_fill(illegal, ILLEGAL_LOGIT), 1)
}

/// Computes the loss of the `output` for the inputs of `batch` against its targets.
///
/// # Panics
/// If the batch is empty, or its shape differs from that of the output.
pub fn masked_loss(output: Output, batch: &TrainingBatch, weights: &LossWeights, device: &Device) -> Loss {
    let (rows, actions) = (batch.len(), batch.shape().actions);
    assert!(rows > 0, "an empty batch has no loss");
    let illegal: Vec<bool> = batch.legal().iter().map(|legal| !legal).collect();
    let illegal = Tensor::<2, Bool>::from_data(TensorData::new(illegal, [rows, actions]), device);
    let policy_target = matrix(batch.policy(), actions, device);
    let value_target = matrix(batch.value(), OUTCOMES, device);

    let log_policy = masked_log_policy(output.policy, illegal);
    let policy = cross_entropy(log_policy.clone(), policy_target);
    let value = cross_entropy(log_softmax(output.value, 1), value_target);
    let mut total = policy.clone() + value.clone().mul_scalar(weights.value);
    let errors = output.auxiliary.map(|said| squared_errors(said, matrix(batch.auxiliary(), AUXILIARY, device)));
    let mut add = |index: usize, weight: f64| {
        let error = errors.clone().filter(|_| weight > 0.0)?.narrow(0, index, 1);
        total = total.clone() + error.clone().mul_scalar(weight);
        Some(error)
    };
    let (margin, plies_left) = (add(0, weights.margin), add(1, weights.plies_left));
    Loss { total, policy, value, margin, plies_left, log_policy }
}

/// Means over the rows of the squared differences in each column.
fn squared_errors(said: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
    let difference = said - targets;
    (difference.clone() * difference).mean_dim(0).reshape([AUXILIARY])
}

/// Mean over the rows of `-sum(target * log_probability)`.
fn cross_entropy(log_probabilities: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
    let rows = targets.dims()[0] as f64;
    (log_probabilities * targets).sum().div_scalar(-rows)
}

/// Copies a row-major matrix with this number of columns to the device.
pub(crate) fn matrix(data: &[f32], columns: usize, device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(data.to_vec(), [data.len() / columns, columns]), device)
}

#[cfg(test)]
mod tests {
    use super::super::batch::Example;
    use super::super::network::{PolicyValueNet, read};
    use super::*;
    use crate::config::NetworkConfig;
    use crate::shape::Shape;
    use crate::weights::Weights;

    const SHAPE: Shape = Shape::flat(3, 4);
    const WEIGHTS: LossWeights = LossWeights { value: 0.7, margin: 0.4, plies_left: 0.3 };

    fn batch() -> TrainingBatch {
        let mut batch = TrainingBatch::new(SHAPE);
        let (a, b) = (&[1.0, -0.5, 0.25], &[-0.3, 0.8, 1.2]);
        let (policy_a, policy_b) = (&[0.1, 0.0, 0.6, 0.3], &[0.0, 0.0, 0.0, 1.0]);
        let legal_a = &[true, false, true, true];
        let legal_b = &[false, true, false, true];
        batch
            .push(Example {
                inputs: a,
                legal: legal_a,
                policy: policy_a,
                value: [0.2, 0.5, 0.3],
                auxiliary: [0.5, 0.25],
            })
            .unwrap();
        batch
            .push(Example {
                inputs: b,
                legal: legal_b,
                policy: policy_b,
                value: [0.0, 0.0, 1.0],
                auxiliary: [-0.75, 0.1],
            })
            .unwrap();
        batch
    }

    #[test]
    fn illegal_actions_get_no_probability_and_no_gradient() {
        let device = Device::flex().autodiff();
        let logits = matrix(&[0.5, 90.0, -1.0, 2.0, 1e8, 0.0, 7.0, 0.0], 4, &device).require_grad();
        let value = matrix(&[0.0; 6], 3, &device);
        let batch = batch();
        let loss = masked_loss(Output { policy: logits.clone(), value, auxiliary: None }, &batch, &WEIGHTS, &device);
        assert!(loss.margin.is_none() && loss.plies_left.is_none());
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

    #[test]
    fn parts_of_weight_zero_are_omitted() {
        let device = Device::flex().autodiff();
        let zeros = |columns: usize| matrix(&vec![0.0; 2 * columns], columns, &device);
        let loss = |margin: f64, plies_left: f64| {
            let output = Output { policy: zeros(4), value: zeros(OUTCOMES), auxiliary: Some(zeros(AUXILIARY)) };
            masked_loss(output, &batch(), &LossWeights { value: 1.0, margin, plies_left }, &device)
        };
        let (neither, one) = (loss(0.0, 0.0), loss(0.0, 2.0));
        assert!(neither.margin.is_none() && neither.plies_left.is_none());
        assert!(one.margin.is_none());
        let squares = read(one.plies_left.expect("it has a weight"))[0];
        assert!((squares - (0.25_f32.powi(2) + 0.1_f32.powi(2)) / 2.0).abs() < 1e-6, "{squares}");
        assert!((read(one.total)[0] - read(neither.total)[0] - 2.0 * squares).abs() < 1e-5);
    }

    /// The loss in plain `f64`, straight from the definitions: forward pass, mask, cross-entropies, squared errors.
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
            sum += WEIGHTS.value * surprise(&dense(&hidden, heads + 2, false), &batch.value()[row * 3..], &|_| true);
            let (said, target) = (dense(&x, heads + 3, false), &batch.auxiliary()[row * 2..]);
            sum += WEIGHTS.margin * (said[0] - f64::from(target[0])).powi(2);
            sum += WEIGHTS.plies_left * (said[1] - f64::from(target[1])).powi(2);
        }
        sum / batch.len() as f64
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let (batch, config) = (batch(), NetworkConfig::ResidualMlp { blocks: 2, width: 6 });
        let mut layout = config.training_layout(&SHAPE).unwrap();
        layout.iter_mut().for_each(|spec| spec.deviation = 0.5); // biases and heads too, so that nothing vanishes
        let weights = Weights::random(&layout, 11);
        let device = Device::flex().autodiff();
        let net = PolicyValueNet::new(&config, &SHAPE, &weights, &device).unwrap();
        let loss = masked_loss(net.forward(matrix(batch.inputs(), 3, &device)), &batch, &WEIGHTS, &device);
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

//! Targets of the heads, and their losses together.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};

use super::batch::{ILLEGAL, TrainingBatch};
use super::network::Output;
use crate::network::HeadSpec;

/// The logit of illegal actions: so low that their probability is exactly zero, and finite so that its product with a
/// target of zero is zero.
pub const ILLEGAL_LOGIT: f32 = -1e9;

/// Target of a head.
#[derive(Debug, Clone)]
pub struct Objective {
    /// The head.
    pub head: HeadSpec,
    /// Weight of its loss in the sum that is minimised, 0 or more.
    pub weight: f64,
    /// Its loss.
    pub loss: RowLoss,
}

/// The loss of each row, `[rows, 1]`, from the outputs of a head and what they should be, both `[rows, numbers]`. Rows do not
/// depend on each other.
pub type RowLoss = fn(Tensor<2>, Tensor<2>) -> Tensor<2>;

impl Objective {
    /// The losses of every network: cross-entropies in nats, of the policy over the legal actions, and of win, draw and loss.
    pub(crate) fn of_every_network() -> [Objective; 2] {
        let losses: [RowLoss; 2] = [
            |logits, target| cross_entropy(masked_log_policy(logits, target.clone()), target.clamp_min(0.0)),
            |logits, target| cross_entropy(log_softmax(logits, 1), target),
        ];
        let [policy, value] = HeadSpec::of_every_network();
        [(policy, losses[0]), (value, losses[1])].map(|(head, loss)| Objective { head, weight: 1.0, loss })
    }

    /// Whether the loss of two rows of zeros has the shape that it should have.
    pub(crate) fn has_loss_by_row(&self, numbers: usize) -> bool {
        let rows = || Tensor::zeros([2, numbers], &Device::flex());
        (self.loss)(rows(), rows()).dims() == [2, 1]
    }
}

/// The loss of a batch and its parts, each of shape `[1]`.
#[derive(Debug)]
pub struct Loss {
    /// The weighted sum of the parts, which is minimised.
    pub total: Tensor<1>,
    /// The loss of each head, in their order: the mean over the rows whose target is known.
    pub heads: Vec<Tensor<1>>,
}

/// Sums over positions; entropies in nats.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LossSums {
    /// Losses of each head.
    pub(crate) heads: Vec<f64>,
    /// Entropies of the masked policy.
    pub(crate) policy_entropy: f64,
    /// Entropies of the policy's targets.
    pub(crate) target_entropy: f64,
}

impl LossSums {
    /// Adds the sums over other positions.
    pub(crate) fn add(&mut self, other: &LossSums) {
        self.heads.iter_mut().zip(&other.heads).for_each(|(sum, other)| *sum += other);
        self.policy_entropy += other.policy_entropy;
        self.target_entropy += other.target_entropy;
    }
}

/// Logarithms of the policy over the legal actions, `[batch, actions]`, those that are not [`ILLEGAL`] in `target`. Illegal
/// actions have probability 0, and the gradient of their logits is 0.
pub fn masked_log_policy(logits: Tensor<2>, target: Tensor<2>) -> Tensor<2> {
    log_softmax(logits.mask_fill(target.equal_elem(ILLEGAL), ILLEGAL_LOGIT), 1)
}

/// Computes the loss of the `output` for the inputs of `batch` against its targets, with objectives for the further heads.
///
/// # Panics
/// If the batch is empty, or its shape differs from that of the output.
pub fn batch_loss(output: Output, batch: &TrainingBatch, further: &[Objective], device: &Device) -> Loss {
    assert!(!batch.is_empty(), "an empty batch has no loss");
    let of_every_network = Objective::of_every_network();
    let mut loss = Loss { total: Tensor::zeros([1], device), heads: Vec::new() };
    let outputs = [output.policy, output.value].into_iter().chain(output.further);
    for ((objective, output), target) in of_every_network.iter().chain(further).zip(outputs).zip(batch.targets()) {
        let rows = (objective.loss)(output, matrix(&target.numbers[..], target.width, device));
        let mean = (rows * matrix(&target.known[..], 1, device)).sum().div_scalar(target.examples());
        loss.total = loss.total + mean.clone().mul_scalar(objective.weight);
        loss.heads.push(mean);
    }
    loss
}

/// `-sum(target * log_probability)` of each row.
fn cross_entropy(log_probabilities: Tensor<2>, targets: Tensor<2>) -> Tensor<2> {
    -(log_probabilities * targets).sum_dim(1)
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
        let (policy_a, policy_b) = (&[0.1, ILLEGAL, 0.6, 0.3], &[ILLEGAL, 0.0, ILLEGAL, 1.0]);
        batch.push(Example { inputs: a, targets: &[Some(policy_a), Some(&[0.2, 0.5, 0.3])] }).unwrap();
        batch.push(Example { inputs: b, targets: &[Some(policy_b), Some(&[0.0, 0.0, 1.0])] }).unwrap();
        batch
    }

    #[test]
    fn illegal_actions_get_no_probability_and_no_gradient() {
        let device = Device::flex().autodiff();
        let logits = matrix([0.5, 90.0, -1.0, 2.0, 1e8, 0.0, 7.0, 0.0], 4, &device).require_grad();
        let value = matrix([0.0; 6], 3, &device);
        let batch = batch();
        let output = Output { policy: logits.clone(), value, further: Vec::new() };
        let loss = batch_loss(output, &batch, &[], &device);
        let gradients = loss.total.backward();
        let gradient = read(logits.grad(&gradients).unwrap());
        let log_policy = masked_log_policy(logits, matrix(batch.policy(), 4, &device));
        let probabilities: Vec<f32> = read(log_policy).iter().map(|x| x.exp()).collect();
        for (index, &target) in batch.policy().iter().enumerate() {
            assert_eq!(probabilities[index] > 0.0, target != ILLEGAL, "{probabilities:?}");
            assert_eq!(gradient[index] != 0.0, target != ILLEGAL, "{gradient:?}");
        }
        assert!((probabilities[5] - 0.5).abs() < 1e-6, "two equal legal logits: {probabilities:?}");
        assert!((read(loss.heads[1].clone())[0] - 3_f32.ln()).abs() < 1e-6);
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
            sum += surprise(&policy, &batch.policy()[row * 4..], &|i| batch.policy()[row * 4 + i] != ILLEGAL);
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
        let loss = batch_loss(net.forward(matrix(batch.inputs(), 3, &device)), &batch, &[], &device);
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

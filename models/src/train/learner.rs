//! The learner: gradients in burn, AdamW and an average of the weights on the host.

use burn::tensor::Device;
use serde::Serialize;

use super::adamw::{self, Rule};
use super::batch::TrainingBatch;
use super::config::{LearnError, OptimiserConfig};
use super::loss::{masked_loss, matrix};
use super::network::{PolicyValueNet, read};
use super::state::LearnerState;
use crate::config::NetworkConfig;
use crate::error::NetworkError;
use crate::shape::Shape;
use crate::weights::{TensorSpec, Weights};

/// Measurements of one step, taken before it changed the weights. Losses are means over the batch; cross-entropies and
/// entropies are in nats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct StepReport {
    /// Cross-entropy of the masked policy against its target.
    pub policy_loss: f64,
    /// Cross-entropy of win, draw and loss against their targets.
    pub value_loss: f64,
    /// Squared error of the scaled margin, if it has a weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_loss: Option<f64>,
    /// Squared error of the scaled number of plies left, if it has a weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plies_left_loss: Option<f64>,
    /// Weighted sum of the losses, the policy loss with weight 1.
    pub total_loss: f64,
    /// Kullback-Leibler divergence of the policy from its target: the policy loss minus the entropy of the targets.
    pub policy_divergence: f64,
    /// Entropy of the masked policy.
    pub policy_entropy: f64,
    /// Norm of the gradient over all parameters, before clipping.
    pub gradient_norm: f64,
}

impl StepReport {
    /// Adds the means over a part of the batch with the given share of its rows. The norm is not additive and left out.
    fn add(&mut self, part: &StepReport, share: f64) {
        self.policy_loss += share * part.policy_loss;
        self.value_loss += share * part.value_loss;
        let sum = |sum: Option<f64>, part: Option<f64>| part.map(|part| sum.unwrap_or(0.0) + share * part);
        self.margin_loss = sum(self.margin_loss, part.margin_loss);
        self.plies_left_loss = sum(self.plies_left_loss, part.plies_left_loss);
        self.total_loss += share * part.total_loss;
        self.policy_divergence += share * part.policy_divergence;
        self.policy_entropy += share * part.policy_entropy;
    }
}

/// Results for a part of a batch; its report has no norm.
struct Part {
    /// Share of the rows of the batch.
    share: f64,
    report: StepReport,
    gradients: Weights,
}

/// A network in training.
///
/// ```
/// use turnstone_models::{TrainingBatch, Example, Learner, NetworkConfig, OptimiserConfig, Shape};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // One training step on one position of a game with four inputs and three actions.
/// let shape = Shape::flat(4, 3);
/// let network = NetworkConfig::ResidualMlp { blocks: 1, width: 32 };
/// let mut learner = Learner::new(shape.clone(), &network, &OptimiserConfig::default(), 7)?;
/// let mut batch = TrainingBatch::new(shape);
/// batch.push(Example {
///     inputs: &[1.0, 0.0, 0.0, 1.0],
///     legal: &[true, false, true],
///     policy: &[0.75, 0.0, 0.25],
///     value: [0.6, 0.3, 0.1], // win, draw, loss for the mover
///     auxiliary: [0.0; 2],    // margin and plies left, which have no weight by default
/// })?;
/// let report = learner.step(&batch, 1e-3)?;
/// assert!(report.total_loss.is_finite());
/// assert_eq!(learner.steps(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Learner {
    state: LearnerState,
    optimiser: OptimiserConfig,
    /// Layout of weights, moments and gradients.
    layout: Vec<TensorSpec>,
    device: Device,
    threads: usize,
}

impl Learner {
    /// Starts with random weights. Equal seeds give equal weights.
    ///
    /// # Errors
    /// A size or a constant is out of range.
    pub fn new(
        shape: Shape,
        network: &NetworkConfig,
        optimiser: &OptimiserConfig,
        seed: u64,
    ) -> Result<Learner, LearnError> {
        let auxiliary = optimiser.learns_auxiliary();
        let playing = network.layout(&shape)?;
        let weights =
            Weights::random(&if auxiliary { network.training_layout(&shape)? } else { playing.clone() }, seed);
        let state = LearnerState {
            shape,
            network: network.clone(),
            auxiliary,
            steps: 0,
            moment1: weights.zeros_like(),
            moment2: weights.zeros_like(),
            // The layers that play come first in both layouts, and so do their draws.
            average: Weights::random(&playing, seed),
            weights,
        };
        Learner::from_state(state, optimiser)
    }

    /// Continues from a [`state`](Self::state), with bit-identical results for equal batches.
    ///
    /// # Errors
    /// A size or a constant is out of range, or tensors are not those of the network.
    pub fn from_state(state: LearnerState, optimiser: &OptimiserConfig) -> Result<Learner, LearnError> {
        optimiser.validate()?;
        if state.auxiliary != optimiser.learns_auxiliary() {
            return Err(LearnError::Auxiliary { saved: state.auxiliary });
        }
        let layout = state.training_layout()?;
        for tensors in [&state.weights, &state.moment1, &state.moment2] {
            tensors.check(&layout).map_err(NetworkError::from)?;
        }
        state.average.check(&state.network.layout(&state.shape)?).map_err(NetworkError::from)?;
        // The device is named, not the default one, which an environment variable could redirect.
        Ok(Learner { state, optimiser: optimiser.clone(), layout, device: Device::flex().autodiff(), threads: 1 })
    }

    /// Sets the maximum number of threads of a step, at least 1; the default is 1. The results do not depend on it. Only
    /// networks over points use more than one thread: a residual MLP is too small to gain from it.
    pub fn use_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// Takes one step of AdamW on `batch` with a learning rate from 0 to 1.
    ///
    /// # Errors
    /// The batch is empty or of another shape, the learning rate is out of range, or the loss or the gradient is not
    /// finite. The learner is unchanged after an error.
    pub fn step(&mut self, batch: &TrainingBatch, learning_rate: f64) -> Result<StepReport, LearnError> {
        self.check(batch, learning_rate)?;
        let step = self.state.steps + 1;
        let finite = |what, value: f64| {
            if value.is_finite() { Ok(value) } else { Err(LearnError::NotFinite { what, step, value }) }
        };
        let (report, gradients) = self.differentiate(batch)?;
        finite("loss", report.total_loss)?;
        finite("gradient norm", report.gradient_norm)?;

        let rule = Rule {
            learning_rate,
            weight_decay: self.optimiser.weight_decay,
            beta1: self.optimiser.beta1,
            beta2: self.optimiser.beta2,
            epsilon: self.optimiser.epsilon,
            gradient_scale: (self.optimiser.clip_norm / report.gradient_norm).min(1.0),
        };
        let LearnerState { weights, moment1, moment2, average, steps, .. } = &mut self.state;
        adamw::update(weights, moment1, moment2, &gradients, step, &rule);
        let warm = step as f64;
        adamw::average_in(average, weights, self.optimiser.ema_decay.min((1.0 + warm) / (10.0 + warm)));
        *steps = step;
        Ok(report)
    }

    fn check(&self, batch: &TrainingBatch, learning_rate: f64) -> Result<(), LearnError> {
        if batch.is_empty() {
            return Err(LearnError::EmptyBatch);
        }
        let (found, expected) = (batch.shape().sizes(), self.state.shape.sizes());
        if found != expected {
            return Err(LearnError::Shape { found, expected });
        }
        if !(0.0..=1.0).contains(&learning_rate) {
            return Err(LearnError::OutOfRange { what: "learning_rate", value: learning_rate, range: "from 0 to 1" });
        }
        Ok(())
    }

    /// Computes loss and gradients, on parts of the batch if that is faster. Neither the parts nor the order in which they
    /// are added depend on the number of threads, so the result does not either.
    fn differentiate(&self, batch: &TrainingBatch) -> Result<(StepReport, Weights), LearnError> {
        let rows = rows_at_once(&self.state.network, &self.state.shape).min(batch.len());
        let starts: Vec<usize> = (0..batch.len()).step_by(rows).collect();
        let (mut report, mut gradients) = (StepReport::default(), self.state.weights.zeros_like());
        for part in self.differentiate_parts(batch, rows, &starts)? {
            report.add(&part.report, part.share);
            gradients.add(&part.gradients, part.share as f32);
        }
        report.gradient_norm = adamw::global_norm(&gradients);
        Ok((report, gradients))
    }

    /// Computes loss and gradients of each part of the batch: up to `rows` rows from each of `starts`.
    fn differentiate_parts(
        &self,
        batch: &TrainingBatch,
        rows: usize,
        starts: &[usize],
    ) -> Result<Vec<Part>, LearnError> {
        let work = |starts: &[usize]| -> Result<Vec<Part>, LearnError> {
            let net = self.network()?; // one per thread: graphs of burn that share parameters wait for each other
            let part = |&start: &usize| self.differentiate_part(&net, batch, start, rows.min(batch.len() - start));
            Ok(starts.iter().map(part).collect())
        };
        let per_thread = starts.len().div_ceil(self.threads);
        if per_thread == starts.len() {
            return work(starts);
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> = starts.chunks(per_thread).map(|starts| scope.spawn(move || work(starts))).collect();
            let mut parts = Vec::with_capacity(starts.len());
            for worker in workers {
                parts.extend(worker.join().expect("training does not panic")?);
            }
            Ok(parts)
        })
    }

    fn network(&self) -> Result<PolicyValueNet, NetworkError> {
        let LearnerState { shape, network, weights, .. } = &self.state;
        PolicyValueNet::new(network, shape, weights, &self.device)
    }

    fn differentiate_part(&self, net: &PolicyValueNet, batch: &TrainingBatch, start: usize, rows: usize) -> Part {
        let part = batch.rows(start, rows);
        let output = net.forward(matrix(part.inputs(), self.state.shape.inputs, &self.device));
        let loss = masked_loss(output, &part, &self.optimiser.loss_weights(), &self.device);
        let gradients = net.gradients(&self.layout, &loss.total.backward());
        let policy_loss = f64::from(read(loss.policy)[0]);
        let report = StepReport {
            policy_loss,
            value_loss: f64::from(read(loss.value)[0]),
            margin_loss: loss.margin.map(|loss| f64::from(read(loss)[0])),
            plies_left_loss: loss.plies_left.map(|loss| f64::from(read(loss)[0])),
            total_loss: f64::from(read(loss.total)[0]),
            policy_divergence: policy_loss - part.policy_entropy(),
            policy_entropy: entropy(&read(loss.log_policy), &part),
            gradient_norm: 0.0,
        };
        Part { share: rows as f64 / batch.len() as f64, report, gradients }
    }

    /// The weights after the last step, including the layer of the auxiliary targets if there is one.
    pub fn weights(&self) -> &Weights {
        &self.state.weights
    }

    /// The exponential moving average of the weights, which plays better than the last weights, without the layer of the
    /// auxiliary targets.
    pub fn averaged(&self) -> &Weights {
        &self.state.average
    }

    /// Number of steps taken, including those before a resume.
    pub fn steps(&self) -> u64 {
        self.state.steps
    }

    /// The state to continue from; see [`save_state`](crate::save_state).
    pub fn state(&self) -> &LearnerState {
        &self.state
    }
}

/// Number of rows that pass through the network at once, for a shape that has been checked. Over points, parts of a batch
/// whose buffers stay in the cache are faster than the whole: 256 positions of 64 points through one layer of 48 channels
/// and 5 taps, forwards and backwards, took 35 ms at once and 23 ms by sixteens. An MLP is slower in parts: 278 steps/s by
/// 128 rows, on one thread or two, against 348.
fn rows_at_once(network: &NetworkConfig, shape: &Shape) -> usize {
    match network {
        NetworkConfig::ResidualMlp { .. } => usize::MAX,
        NetworkConfig::ResidualGraph { .. } | NetworkConfig::Mixer { .. } => (1024 / shape.board.points).max(1),
    }
}

/// Mean entropy of the policies with logarithms `log_policy`, `[batch, actions]`.
fn entropy(log_policy: &[f32], batch: &TrainingBatch) -> f64 {
    let legal = log_policy.iter().zip(batch.legal()).filter(|(_, legal)| **legal);
    legal.map(|(&log, _)| f64::from(-log * log.exp())).sum::<f64>() / batch.len() as f64
}

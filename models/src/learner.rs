//! The learner: gradient steps in burn, AdamW and an average of the weights on the host, and all of it to resume.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::adamw::{self, Rule};
use crate::batch::Batch;
use crate::loss::{LossWeights, masked_loss, matrix};
use crate::network::{NetworkConfig, NetworkError, PolicyValueNet, read};
use crate::shape::Shape;
use crate::weights::{TensorSpec, Weights};

/// Constants of training that stay the same over a run; the learning rate is given with each step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OptimiserConfig {
    /// Decoupled weight decay of matrices (biases do not decay), times the learning rate per step; 0 to 1.
    pub weight_decay: f64,
    /// Largest norm of the gradient over all parameters together; above 0, infinite to never clip.
    pub clip_norm: f64,
    /// Decay per step of the averaged weights, once warm; 0 to below 1. Step `t` uses at most `(1 + t) / (10 + t)`.
    pub ema_decay: f64,
    /// Weight of the value loss against the policy loss, 0 to 100.
    pub value_weight: f64,
    /// Weight of the squared error of the scaled final margin, an auxiliary target, 0 to 100. 0 does not learn it.
    pub margin_weight: f64,
    /// Weight of the squared error of the scaled number of plies left, an auxiliary target, 0 to 100. 0 does not learn
    /// it.
    pub plies_left_weight: f64,
    /// Decay of Adam's first moment, 0 to below 1.
    pub beta1: f64,
    /// Decay of Adam's second moment, 0 to below 1.
    pub beta2: f64,
    /// Added to the root of Adam's second moment, 1e-12 to 1.
    pub epsilon: f64,
}

impl Default for OptimiserConfig {
    fn default() -> Self {
        OptimiserConfig {
            weight_decay: 1e-4,
            clip_norm: 1.0,
            ema_decay: 0.999,
            value_weight: 1.0,
            margin_weight: 0.0,
            plies_left_weight: 0.0,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        }
    }
}

/// Why a learner cannot be built or a step cannot be taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LearnError {
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A constant of training is outside its range.
    #[error("{what} is {value}, but must be {range}")]
    OutOfRange {
        /// The constant, by its key.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The values it may have, in words.
        range: &'static str,
    },
    /// There is nothing to learn from.
    #[error("the batch is empty")]
    EmptyBatch,
    /// The batch was made for another game.
    #[error("the batch has {} inputs and {} actions, the network {} and {}",
        found[0], found[1], expected[0], expected[1])]
    Shape {
        /// The batch's inputs and actions.
        found: [usize; 2],
        /// The network's inputs and actions.
        expected: [usize; 2],
    },
    /// The state has the layer of the auxiliary targets and the loss has no use for it, or the other way round.
    #[error("the state of training was saved {} auxiliary targets, but the loss is {} them",
        if *saved { "with" } else { "without" }, if *saved { "without" } else { "with" })]
    Auxiliary {
        /// Whether the state has it.
        saved: bool,
    },
    /// The loss or the gradient is infinite or not a number; nothing was changed.
    #[error("the {what} at step {step} is {value}")]
    NotFinite {
        /// `loss` or `gradient norm`.
        what: &'static str,
        /// The number that the step would have had.
        step: u64,
        /// What was computed.
        value: f64,
    },
}

impl OptimiserConfig {
    /// Checks every constant.
    ///
    /// # Errors
    /// [`LearnError::OutOfRange`] names the first one that is out of range.
    pub fn validate(&self) -> Result<(), LearnError> {
        const FRACTION: &str = "from 0 to below 1";
        let check = |what, value: f64, good: bool, range| {
            if good { Ok(()) } else { Err(LearnError::OutOfRange { what, value, range }) }
        };
        let fraction = |what, value: f64| check(what, value, (0.0..1.0).contains(&value), FRACTION);
        check("weight_decay", self.weight_decay, (0.0..=1.0).contains(&self.weight_decay), "from 0 to 1")?;
        check("clip_norm", self.clip_norm, self.clip_norm > 0.0, "above 0")?;
        fraction("ema_decay", self.ema_decay)?;
        let weight = |what, value: f64| check(what, value, (0.0..=100.0).contains(&value), "from 0 to 100");
        weight("value_weight", self.value_weight)?;
        weight("margin_weight", self.margin_weight)?;
        weight("plies_left_weight", self.plies_left_weight)?;
        fraction("beta1", self.beta1)?;
        fraction("beta2", self.beta2)?;
        check("epsilon", self.epsilon, (1e-12..=1.0).contains(&self.epsilon), "from 1e-12 to 1")
    }

    fn loss_weights(&self) -> LossWeights {
        LossWeights { value: self.value_weight, margin: self.margin_weight, plies_left: self.plies_left_weight }
    }

    /// Whether an auxiliary target is learned.
    fn learns_auxiliary(&self) -> bool {
        self.margin_weight > 0.0 || self.plies_left_weight > 0.0
    }
}

/// What one step saw, before it changed the weights. Losses are means over the batch; cross-entropies and entropies are
/// in nats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct StepReport {
    /// Cross-entropy of the masked policy against its target.
    pub policy_loss: f64,
    /// Cross-entropy of win, draw and loss against their targets.
    pub value_loss: f64,
    /// Squared error of the scaled margin, if it is learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_loss: Option<f64>,
    /// Squared error of the scaled number of plies left, if it is learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plies_left_loss: Option<f64>,
    /// The policy loss and the others by their weights.
    pub total_loss: f64,
    /// Divergence of the network's policy from its target: the policy loss less the targets' own entropy.
    pub policy_divergence: f64,
    /// Entropy of the network's masked policy.
    pub policy_entropy: f64,
    /// Norm of the gradient over all parameters together, before clipping.
    pub gradient_norm: f64,
}

impl StepReport {
    /// Adds the means over a part of the batch, which is this share of it; norms do not add up.
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

/// All that the next step depends on besides batch, learning rate and [`OptimiserConfig`].
#[derive(Debug, Clone, PartialEq)]
pub struct LearnerState {
    /// Shape of the game.
    pub shape: Shape,
    /// The network.
    pub network: NetworkConfig,
    /// Whether weights and moments end with the layer of the auxiliary targets.
    pub auxiliary: bool,
    /// Steps taken so far.
    pub steps: u64,
    /// The network's parameters.
    pub weights: Weights,
    /// Adam's first moments.
    pub moment1: Weights,
    /// Adam's second moments.
    pub moment2: Weights,
    /// The averaged parameters, of the layers that play.
    pub average: Weights,
}

impl LearnerState {
    /// The layout of weights and moments.
    pub(crate) fn training_layout(&self) -> Result<Vec<TensorSpec>, NetworkError> {
        if self.auxiliary { self.network.training_layout(&self.shape) } else { self.network.layout(&self.shape) }
    }
}

/// What a part of a batch says by itself; its report lacks the norm.
struct Part {
    /// Its share of the batch's rows.
    share: f64,
    report: StepReport,
    gradients: Weights,
}

/// A network in training.
#[derive(Debug)]
pub struct Learner {
    state: LearnerState,
    optimiser: OptimiserConfig,
    /// Of weights, moments and gradients.
    layout: Vec<TensorSpec>,
    device: Device,
    threads: usize,
}

impl Learner {
    /// Starts with random weights, which `seed` alone decides.
    ///
    /// # Errors
    /// A size or a constant out of range.
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

    /// Goes on where [`state`](Self::state) was taken: the same batches then lead to the same bits.
    ///
    /// # Errors
    /// A size or a constant out of range, or tensors that are not those of the network.
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

    /// Lets a step use so many threads, at least one; a new learner uses one. It changes nothing but the time that a step takes, and
    /// that only for networks over points: a residual MLP is too small to be divided.
    pub fn use_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// Takes one step of AdamW on `batch`. The learning rate is from 0 to 1.
    ///
    /// # Errors
    /// A batch that is empty or of another shape, a learning rate out of range, or a loss or gradient that is not
    /// finite. The learner is then as it was before.
    pub fn step(&mut self, batch: &Batch, learning_rate: f64) -> Result<StepReport, LearnError> {
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

    fn check(&self, batch: &Batch, learning_rate: f64) -> Result<(), LearnError> {
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

    /// Runs the network forwards and backwards, on parts of the batch if that is faster. The parts do not depend on the
    /// number of threads and are added in their order, so neither does the result.
    fn differentiate(&self, batch: &Batch) -> Result<(StepReport, Weights), LearnError> {
        let rows = self.state.network.rows_at_once(&self.state.shape).min(batch.len());
        let starts: Vec<usize> = (0..batch.len()).step_by(rows).collect();
        let (mut report, mut gradients) = (StepReport::default(), self.state.weights.zeros_like());
        for part in self.differentiate_parts(batch, rows, &starts)? {
            report.add(&part.report, part.share);
            gradients.add(&part.gradients, part.share as f32);
        }
        report.gradient_norm = adamw::global_norm(&gradients);
        Ok((report, gradients))
    }

    /// Works on each part of the batch by itself: up to `rows` rows from each of `starts` on.
    fn differentiate_parts(&self, batch: &Batch, rows: usize, starts: &[usize]) -> Result<Vec<Part>, LearnError> {
        let work = |starts: &[usize]| -> Result<Vec<Part>, LearnError> {
            let net = self.network()?; // one per thread: burn's graphs that share parameters would wait for each other
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

    fn differentiate_part(&self, net: &PolicyValueNet, batch: &Batch, start: usize, rows: usize) -> Part {
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

    /// The weights after the last step, those of the auxiliary targets included.
    pub fn weights(&self) -> &Weights {
        &self.state.weights
    }

    /// The exponential moving average of the weights, which plays better than the last ones. It has only what plays.
    pub fn averaged(&self) -> &Weights {
        &self.state.average
    }

    /// Steps taken so far, those before a resume included.
    pub fn steps(&self) -> u64 {
        self.state.steps
    }

    /// Everything to go on from here; see [`save_state`](crate::save_state).
    pub fn state(&self) -> &LearnerState {
        &self.state
    }
}

/// Mean entropy of the policies whose logarithms are `log_policy`, `[batch, actions]`.
fn entropy(log_policy: &[f32], batch: &Batch) -> f64 {
    let legal = log_policy.iter().zip(batch.legal()).filter(|(_, legal)| **legal);
    legal.map(|(&log, _)| f64::from(-log * log.exp())).sum::<f64>() / batch.len() as f64
}

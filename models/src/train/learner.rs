//! The learner: gradients of a batch, the optimiser and an average of the weights.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::adamw::{self, Rule};
use super::batch::TrainingBatch;
use super::config::{LearnError, Optimiser, OptimiserConfig};
use super::gradients::Gradients;
use super::loss::{LossSums, Objective};
use super::state::LearnerState;
use crate::kinds::NetworkConfig;
use crate::network::{HeadSpec, POLICY, VALUE};
use crate::shape::Shape;
use crate::weights::Weights;

/// Measurements of one step, taken before it changed the weights. Losses are means over the batch; cross-entropies and
/// entropies are in nats.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Cross-entropy of the masked policy against its target.
    pub policy_loss: f64,
    /// Cross-entropy of win, draw and loss against their targets.
    pub value_loss: f64,
    /// Losses of the further targets by name: means over the positions for which they are known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub targets: BTreeMap<String, f64>,
    /// Weighted sum of the losses, those of policy and value with weight 1.
    pub total_loss: f64,
    /// Kullback-Leibler divergence of the policy from its target: the policy loss minus the entropy of the targets.
    pub policy_divergence: f64,
    /// Entropy of the masked policy.
    pub policy_entropy: f64,
    /// Norm of the gradient over all parameters, before clipping.
    pub gradient_norm: f64,
}

impl StepReport {
    /// The means over a batch.
    fn new(sums: &LossSums, batch: &TrainingBatch, further: &[Objective], gradient_norm: f64) -> StepReport {
        let mean = |sum: f64| sum / batch.len() as f64;
        let (policy_loss, value_loss) = (mean(sums.heads[POLICY]), mean(sums.heads[VALUE]));
        let further = further.iter().zip(&sums.heads[VALUE + 1..]).zip(&batch.targets()[VALUE + 1..]);
        let (mut total_loss, mut targets) = (policy_loss + value_loss, BTreeMap::new());
        for ((Objective { head, weight, .. }, sum), target) in further {
            let loss = sum / target.examples();
            total_loss += weight * loss;
            targets.insert(head.name.clone(), loss);
        }
        StepReport {
            policy_loss,
            value_loss,
            targets,
            total_loss,
            policy_divergence: policy_loss - mean(sums.target_entropy),
            policy_entropy: mean(sums.policy_entropy),
            gradient_norm,
        }
    }
}

/// A network in training.
///
/// ```
/// use turnstone_models::{Example, ILLEGAL, Learner, NetworkConfig, OptimiserConfig, ResidualMlp, Shape, TrainingBatch};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // One training step on one position of a game with four inputs and three actions.
/// let shape = Shape::flat(4, 3);
/// let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 32 });
/// let mut learner = Learner::new(shape.clone(), &network, &OptimiserConfig::default(), 7)?;
/// let mut batch = TrainingBatch::new(shape);
/// batch.push(Example {
///     inputs: &[1.0, 0.0, 0.0, 1.0],
///     // The policy; win, draw and loss for the mover.
///     targets: &[Some(&[0.75, ILLEGAL, 0.25]), Some(&[0.6, 0.3, 0.1])],
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
    gradients: Gradients,
    /// Places of the tensors that Muon updates.
    by_muon: Vec<usize>,
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
        let weights = Weights::random(&network.layout(&shape)?, seed);
        let state = LearnerState::new(shape, network.clone(), weights).with_heads(optimiser.heads(), seed)?;
        Learner::from_state(state, optimiser)
    }

    /// Continues from a [`state`](Self::state), with bit-identical results for equal batches.
    ///
    /// # Errors
    /// A size or a constant is out of range, tensors are not those of the network, no training leads to the state, or its heads
    /// are not those that `optimiser` trains.
    pub fn from_state(state: LearnerState, optimiser: &OptimiserConfig) -> Result<Learner, LearnError> {
        optimiser.validate()?;
        check_heads("learner's state", &state.heads, optimiser)?;
        state.check_tensors()?;
        state.check_progress()?;
        for objective in &optimiser.further {
            if !objective.has_loss_by_row(objective.head.shape.numbers(&state.shape)) {
                return Err(LearnError::LossShape(objective.head.name.clone()));
            }
        }
        let gradients = Gradients::new(optimiser, &state)?;
        let by_muon = match optimiser.optimiser {
            Optimiser::AdamW => Vec::new(),
            Optimiser::Muon => state.with_all_heads()?.hidden_matrices(),
        };
        Ok(Learner { state, optimiser: optimiser.clone(), gradients, by_muon, threads: 1 })
    }

    /// Sets the maximum number of threads of a step, at least 1; the default is 1. The results do not depend on it. A
    /// step uses at most eight threads, four for a network that is not one over points.
    pub fn use_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// Takes one step of the optimiser on `batch` with a learning rate from 0 to 1.
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
        let (losses, gradients) = self.gradients.of(&self.state, batch, self.threads)?;
        let further = &self.optimiser.further;
        let report = StepReport::new(&losses, batch, further, adamw::global_norm(gradients));
        finite("loss", report.total_loss)?;
        finite("gradient norm", report.gradient_norm)?;

        let rule = Rule {
            learning_rate,
            weight_decay: self.optimiser.weight_decay,
            gradient_scale: (self.optimiser.clip_norm / report.gradient_norm).min(1.0),
        };
        let LearnerState { weights, moment1, moment2, average, steps, .. } = &mut self.state;
        adamw::update(weights, moment1, moment2, gradients, step, &rule, &self.by_muon);
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
        let heads: Vec<HeadSpec> = batch.targets()[VALUE + 1..].iter().map(|target| target.head.clone()).collect();
        check_heads("batch", &heads, &self.optimiser)?;
        if !(0.0..=1.0).contains(&learning_rate) {
            return Err(LearnError::OutOfRange { what: "learning_rate", value: learning_rate, range: "from 0 to 1" });
        }
        Ok(())
    }

    /// The weights after the last step.
    pub fn weights(&self) -> &Weights {
        &self.state.weights
    }

    /// The exponential moving average of the weights, which plays better than the last weights.
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

fn check_heads(what: &'static str, found: &[HeadSpec], optimiser: &OptimiserConfig) -> Result<(), LearnError> {
    let expected = optimiser.heads();
    if found == expected { Ok(()) } else { Err(LearnError::Heads { what, found: found.to_vec(), expected }) }
}

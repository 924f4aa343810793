//! Constants of training, and the errors of a learner.

use super::loss::Objective;
use super::state::StateError;
use crate::device::ComputeDevice;
use crate::error::NetworkError;
use crate::network::HeadSpec;

turnstone_base::words! {
    /// What makes steps of gradients.
    pub enum Optimiser {
        /// AdamW.
        AdamW = "adamw",
        /// Muon for the matrices of hidden layers, AdamW for the others and the biases.
        Muon = "muon",
    }
}

/// Constants of training. The learning rate is not among them: it is an argument of each step.
#[derive(Debug, Clone)]
pub struct OptimiserConfig {
    /// What makes steps of gradients.
    pub optimiser: Optimiser,
    /// Device that computes the gradients; the optimiser always runs on the processor.
    pub device: ComputeDevice,
    /// Decoupled weight decay of matrices (biases do not decay), times the learning rate per step; 0 to 1.
    pub weight_decay: f64,
    /// Maximum norm of the gradient over all parameters together; above 0, infinite to disable clipping.
    pub clip_norm: f64,
    /// Decay per step of the averaged weights, 0 to below 1. Step `t` uses at most `(1 + t) / (10 + t)`.
    pub ema_decay: f64,
    /// What further heads are trained for, beside policy and value.
    pub further: Vec<Objective>,
}

impl Default for OptimiserConfig {
    fn default() -> Self {
        OptimiserConfig {
            optimiser: Optimiser::default(),
            device: ComputeDevice::default(),
            weight_decay: 1e-4,
            clip_norm: 1.0,
            ema_decay: 0.999,
            further: Vec::new(),
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
        /// The key of the constant.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Description of the allowed values.
        range: &'static str,
    },
    /// No training leads to the state.
    #[error(transparent)]
    State(#[from] StateError),
    /// The heads of a state or of a batch are not those that the learner trains.
    #[error("the {what} has heads for the targets [{}], not [{}]", names(found), names(expected))]
    Heads {
        /// `learner's state` or `batch`.
        what: &'static str,
        /// Its heads.
        found: Vec<HeadSpec>,
        /// Those of the learner.
        expected: Vec<HeadSpec>,
    },
    /// The loss of a target does not have one number for each row.
    #[error("the loss of the target `{0}` must have the shape [rows, 1]")]
    LossShape(String),
    /// The batch has no examples.
    #[error("the batch is empty")]
    EmptyBatch,
    /// The batch has another shape than the network.
    #[error("the batch has {} inputs and {} actions, the network {} and {}",
        found[0], found[1], expected[0], expected[1])]
    Shape {
        /// The batch's inputs and actions.
        found: [usize; 2],
        /// The network's inputs and actions.
        expected: [usize; 2],
    },
    /// A quantity of training is infinite or NaN. A learner whose step fails so is unchanged.
    #[error("the {what} at step {step} is {value}")]
    NotFinite {
        /// `loss`, `gradient norm`, or the outputs of the network.
        what: &'static str,
        /// The number of the step, counted from 1.
        step: u64,
        /// Its value.
        value: f64,
    },
}

fn names(heads: &[HeadSpec]) -> String {
    heads.iter().map(|head| &*head.name).collect::<Vec<_>>().join(", ")
}

impl OptimiserConfig {
    /// The heads beside policy and value.
    pub fn heads(&self) -> Vec<HeadSpec> {
        self.further.iter().map(|objective| objective.head.clone()).collect()
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// [`LearnError::OutOfRange`] names the first one that is out of range.
    pub fn validate(&self) -> Result<(), LearnError> {
        let check = |what, value: f64, good: bool, range| {
            if good { Ok(()) } else { Err(LearnError::OutOfRange { what, value, range }) }
        };
        check("weight_decay", self.weight_decay, (0.0..=1.0).contains(&self.weight_decay), "from 0 to 1")?;
        check("clip_norm", self.clip_norm, self.clip_norm > 0.0, "above 0")?;
        check("ema_decay", self.ema_decay, (0.0..1.0).contains(&self.ema_decay), "from 0 to below 1")?;
        let weight = self.further.iter().map(|objective| objective.weight).find(|weight| !(0.0..=1e3).contains(weight));
        weight.map_or(Ok(()), |weight| check("the weight of a target", weight, false, "from 0 to 1000"))
    }
}

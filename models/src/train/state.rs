//! The state of a learner.

use crate::kinds::NetworkConfig;
use crate::shape::Shape;
use crate::weights::{NamedTensor, Weights};

/// Maximum number of steps, which no training reaches: at 1,000 steps a second it takes 35 years.
pub(super) const MOST_STEPS: u64 = 1 << 40;

/// The state of a learner: everything that a step depends on besides batch, learning rate and
/// [`OptimiserConfig`](crate::OptimiserConfig).
#[derive(Debug, Clone, PartialEq)]
pub struct LearnerState {
    /// Shape of the game.
    pub shape: Shape,
    /// The network.
    pub network: NetworkConfig,
    /// Number of steps taken.
    pub steps: u64,
    /// The network's parameters.
    pub weights: Weights,
    /// Adam's first moments.
    pub moment1: Weights,
    /// Adam's second moments.
    pub moment2: Weights,
    /// Exponential moving average of the parameters.
    pub average: Weights,
}

impl LearnerState {
    /// The state before the first step, with these weights.
    #[must_use]
    pub fn new(shape: Shape, network: NetworkConfig, weights: Weights) -> LearnerState {
        let (moment1, moment2) = (weights.zeros_like(), weights.zeros_like());
        let shape = network.needed(shape);
        LearnerState { shape, network, steps: 0, moment1, moment2, average: weights.clone(), weights }
    }

    /// Checks what the steps and the moments of training can be. The tensors are checked against their layouts already.
    pub(super) fn check_progress(&self) -> Result<(), StateError> {
        if self.steps > MOST_STEPS {
            return Err(StateError::Steps(self.steps));
        }
        let negative = |tensor: &&NamedTensor| tensor.data.iter().any(|&number| number < 0.0);
        match self.moment2.tensors().iter().find(negative) {
            Some(tensor) => Err(StateError::NegativeMoment(tensor.name.clone())),
            None => Ok(()),
        }
    }
}

/// What no training leads to in a learner's state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The number of steps is beyond any training.
    #[error("{0} steps of training cannot be: at most {MOST_STEPS} are taken")]
    Steps(u64),
    /// A second moment, a mean of squares, is negative.
    #[error("tensor `moment2/{0}` holds a negative number, which no mean of squares is")]
    NegativeMoment(String),
}

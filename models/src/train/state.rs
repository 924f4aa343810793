//! The state of a learner.

use crate::config::NetworkConfig;
use crate::error::NetworkError;
use crate::shape::Shape;
use crate::weights::{TensorSpec, Weights};

/// The state of a learner: everything that a step depends on besides batch, learning rate and
/// [`OptimiserConfig`](crate::OptimiserConfig).
#[derive(Debug, Clone, PartialEq)]
pub struct LearnerState {
    /// Shape of the game.
    pub shape: Shape,
    /// The network.
    pub network: NetworkConfig,
    /// Whether weights and moments include the layer of the auxiliary targets.
    pub auxiliary: bool,
    /// Number of steps taken.
    pub steps: u64,
    /// The network's parameters.
    pub weights: Weights,
    /// Adam's first moments.
    pub moment1: Weights,
    /// Adam's second moments.
    pub moment2: Weights,
    /// Exponential moving average of the parameters, without the layer of the auxiliary targets.
    pub average: Weights,
}

impl LearnerState {
    /// The layout of weights and moments.
    pub(crate) fn training_layout(&self) -> Result<Vec<TensorSpec>, NetworkError> {
        if self.auxiliary { self.network.training_layout(&self.shape) } else { self.network.layout(&self.shape) }
    }
}

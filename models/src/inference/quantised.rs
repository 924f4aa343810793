//! A network of integers of eight bits as passes.

mod plan;
mod calibration;

use std::sync::Arc;

use self::calibration::Calibration;
use super::passes::CompiledNetwork;
use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::network::Network;
use crate::shape::Shape;
use crate::weights::Weights;

/// Rows per pass: board points, or positions for networks without points.
const ROWS: [usize; 2] = [192, 48];

/// A network with weights and activations of eight bits, without buffers: all threads can share it. See
/// [`Inference::quantised`](crate::Inference::quantised).
#[derive(Debug, Clone)]
pub struct QuantisedNetwork {
    shape: Shape,
    pub(super) compiled: Arc<CompiledNetwork>,
}

impl QuantisedNetwork {
    /// Quantises `weights`. `samples` are observations, `[rows, inputs]`, like those that will be evaluated: they decide the
    /// ranges of all activations. A few hundred are enough. Without any the ranges are guesses, and poor ones.
    ///
    /// Equal weights and samples give equal networks on every processor.
    ///
    /// # Errors
    /// A size is out of range, or the weights are not those of the network.
    ///
    /// # Panics
    /// If the length of `samples` is not a multiple of the number of inputs.
    pub fn new(
        weights: &Weights,
        config: &NetworkConfig,
        shape: &Shape,
        samples: &[f32],
    ) -> Result<QuantisedNetwork, NetworkError> {
        let network = Network::new(config, shape)?;
        weights.check(&network.layout())?;
        assert!(samples.len().is_multiple_of(shape.inputs), "observations of {} inputs", shape.inputs);
        let rows = ROWS[usize::from(!network.reads_points())];
        let compiled = Calibration::new(&network, weights, samples).finish(rows);
        Ok(QuantisedNetwork { shape: shape.clone(), compiled: Arc::new(compiled) })
    }

    /// Shape of the game.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

#[cfg(test)]
mod tests;

//! Inference with weights and activations of eight bits: the same bits on every processor.
//!
//! Weights are signed bytes with a scale per output, activations unsigned bytes with a step per input, sums exact. Biases
//! and the residual stream remain floats.

mod kernel;
mod steps;
mod layer;
mod calibration;
mod mlp;
mod points;
mod graph;

pub use kernel::IntegerInstructions;

use std::sync::Arc;

use self::calibration::Parameters;
use super::neighbours::Neighbours;
use crate::config::NetworkConfig;
use crate::error::NetworkError;
use crate::shape::Shape;
use crate::weights::Weights;

/// A network with weights and activations of eight bits, without buffers: all threads can share it. See
/// [`Inference::quantised`](crate::Inference::quantised).
#[derive(Debug, Clone)]
pub struct QuantisedNetwork {
    shape: Shape,
    body: Body,
}

/// The layers by the kind of network.
#[derive(Debug, Clone)]
enum Body {
    Mlp(mlp::Mlp),
    Graph(graph::Graph),
}

impl QuantisedNetwork {
    /// Quantises `weights`. `samples` are observations, `[rows, inputs]`, like those that will be evaluated: they decide the
    /// ranges of all activations. A few hundred are enough. Without any the ranges are guesses, and poor ones.
    ///
    /// Equal weights and samples give equal networks on every processor.
    ///
    /// # Errors
    /// A size is out of range, the weights are not those of the network, or this kind of network has no integers.
    ///
    /// # Panics
    /// If the length of `samples` is not a multiple of the number of inputs.
    pub fn new(
        weights: &Weights,
        config: &NetworkConfig,
        shape: &Shape,
        samples: &[f32],
    ) -> Result<QuantisedNetwork, NetworkError> {
        weights.check(&config.layout(shape)?)?;
        if !config.has_integers() {
            return Err(NetworkError::NoIntegers);
        }
        assert!(samples.len().is_multiple_of(shape.inputs), "observations of {} inputs", shape.inputs);
        let parameters = Parameters::new(weights);
        let body = match (config, config.taps(shape)) {
            (&NetworkConfig::ResidualMlp { blocks, .. }, _) => {
                Body::Mlp(mlp::Mlp::new(parameters, blocks, samples, shape.inputs))
            }
            (&NetworkConfig::ResidualGraph { blocks, .. }, taps) => {
                let taps = taps.expect("a graph network has taps");
                Body::Graph(graph::Graph::new(
                    parameters,
                    blocks,
                    Neighbours::of_taps(&taps, shape.board.points),
                    shape,
                    samples,
                ))
            }
            (NetworkConfig::ResidualConv { .. }, _) => unreachable!("it has no integers"),
        };
        Ok(QuantisedNetwork { shape: shape.clone(), body })
    }

    /// Shape of the game.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

/// A quantised network with buffers.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    network: Arc<QuantisedNetwork>,
    instructions: IntegerInstructions,
    buffers: Buffers,
}

#[derive(Debug, Clone)]
enum Buffers {
    Mlp(mlp::Buffers),
    Graph(graph::Buffers),
}

impl Engine {
    pub(super) fn new(network: Arc<QuantisedNetwork>, max_batch: usize, instructions: IntegerInstructions) -> Engine {
        let buffers = match &network.body {
            Body::Mlp(mlp) => Buffers::Mlp(mlp.buffers()),
            Body::Graph(graph) => Buffers::Graph(graph.buffers(max_batch)),
        };
        Engine { network, instructions, buffers }
    }

    pub(super) fn evaluate(&mut self, observations: &[f32], policy: &mut [f32], value: &mut [f32]) {
        let with = self.instructions;
        match (&self.network.body, &mut self.buffers) {
            (Body::Mlp(mlp), Buffers::Mlp(buffers)) => mlp.evaluate(with, buffers, observations, policy, value),
            (Body::Graph(graph), Buffers::Graph(buffers)) => graph.evaluate(with, buffers, observations, policy, value),
            _ => unreachable!("the buffers are those of the network"),
        }
    }
}

#[cfg(test)]
mod tests;

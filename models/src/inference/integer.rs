//! Inference with weights and activations of eight bits: the same bits on every processor.
//!
//! Weights are signed bytes with a scale per output, activations unsigned bytes with a step per input, sums exact. Biases
//! and the residual stream remain floats.

mod kernel;
mod steps;
mod layer;
mod plan;
mod passes;
mod calibration;

pub use kernel::IntegerInstructions;

use std::sync::Arc;

use self::calibration::Calibration;
use self::passes::{Buffers, Parts, Pass};
use super::slots::{Room, Slots, share};
use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::network::Network;
use crate::shape::Shape;
use crate::weights::Weights;

/// Number of rows that pass through the network together, so that their buffers stay in the cache: of points, and of
/// positions in a network that does not work on points.
const ROWS: [usize; 2] = [192, 48];

/// A network with weights and activations of eight bits, without buffers: all threads can share it. See
/// [`Inference::quantised`](crate::Inference::quantised).
#[derive(Debug, Clone)]
pub struct QuantisedNetwork {
    shape: Shape,
    parts: Parts,
    passes: Vec<Pass>,
    /// The buffers of numbers and of bytes.
    numbers: Vec<Room>,
    bytes: Vec<Room>,
    /// Number of positions that pass through the network together.
    group: usize,
    /// Buffers of policy and value.
    outputs: [usize; 2],
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
        let calibration = Calibration::new(&network, weights, samples);
        let outputs = [network.policy, network.value].map(|var| calibration.output(var));
        let Calibration { parts, mut passes, numbers, bytes, .. } = calibration;
        let (slots, numbers) = share(&numbers, &lives(&mut passes, numbers.len(), &outputs, Pass::numbers));
        passes.iter_mut().flat_map(Pass::numbers).for_each(|register| *register = slots[*register]);
        let outputs = outputs.map(|register| slots[register]);
        let (slots, bytes) = share(&bytes, &lives(&mut passes, bytes.len(), &[], Pass::bytes));
        passes.iter_mut().flat_map(Pass::bytes).for_each(|register| *register = slots[*register]);
        let group = (ROWS[usize::from(!network.reads_points())] / network.most_rows()).max(1);
        Ok(QuantisedNetwork { shape: shape.clone(), parts, passes, numbers, bytes, group, outputs })
    }

    /// Shape of the game.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

/// The first and the last pass that writes or reads each of `count` registers. Outputs are read at the end.
fn lives(
    passes: &mut [Pass],
    count: usize,
    outputs: &[usize],
    registers: impl Fn(&mut Pass) -> Vec<&mut usize>,
) -> Vec<Option<[usize; 2]>> {
    let (mut lives, end): (Vec<Option<[usize; 2]>>, usize) = (vec![None; count], passes.len());
    let mut live = |register: usize, index: usize| {
        lives[register] = Some([lives[register].map_or(index, |[first, _]| first), index]);
    };
    for (index, pass) in passes.iter_mut().enumerate() {
        registers(pass).into_iter().for_each(|register| live(*register, index));
    }
    outputs.iter().for_each(|&register| live(register, end));
    lives
}

/// A quantised network with buffers.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    network: Arc<QuantisedNetwork>,
    instructions: IntegerInstructions,
    group: usize,
    buffers: Buffers,
}

impl Engine {
    pub(super) fn new(network: Arc<QuantisedNetwork>, batch: usize, instructions: IntegerInstructions) -> Engine {
        let group = network.group.min(batch);
        let numbers = Slots::new(&network.numbers, group, batch);
        let buffers = Buffers { numbers, bytes: Slots::new(&network.bytes, group, batch) };
        Engine { network, instructions, group, buffers }
    }

    /// Evaluates observations, `[batch, inputs]`.
    pub(super) fn evaluate(&mut self, batch: usize, observations: &[f32]) {
        let QuantisedNetwork { shape, parts, passes, .. } = &*self.network;
        for start in (0..batch).step_by(self.group) {
            let positions = start..batch.min(start + self.group);
            let observations = &observations[positions.start * shape.inputs..positions.end * shape.inputs];
            for pass in passes {
                pass.run(self.instructions, parts, &positions, observations, &mut self.buffers);
            }
        }
    }

    /// Policy and value of the last batch.
    pub(super) fn outputs(&self, batch: usize) -> [&[f32]; 2] {
        self.network.outputs.map(|slot| self.buffers.numbers.get(slot, &(0..batch)))
    }
}

#[cfg(test)]
mod tests;

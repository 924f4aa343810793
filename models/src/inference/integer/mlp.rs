//! The residual MLP with weights of eight bits.

use super::calibration::{Activations, Parameters};
use super::kernel::{Destination, IntegerInstructions};
use super::layer::Layer;
use super::steps::Steps;

/// Number of rows that pass through the network together, so that their buffers stay in the cache.
const ROWS: usize = 48;

/// The layers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mlp {
    inputs: Steps,
    stem: Layer,
    blocks: Vec<[Layer; 2]>,
    policy: Layer,
    value_hidden: Layer,
    value: Layer,
}

/// The buffers for up to [`ROWS`] rows, each with room for whole strips.
#[derive(Debug, Clone)]
pub(super) struct Buffers {
    inputs: Vec<u8>,
    stream: Vec<f32>,
    bytes: Vec<u8>,
    /// Hidden units of a block.
    inner: Vec<u8>,
    /// Hidden units of the value head.
    hidden: Vec<u8>,
}

impl Mlp {
    /// Quantises the parameters, which come in the order of the layout. `samples` are observations of `width` numbers.
    pub(super) fn new(mut parameters: Parameters<'_>, blocks: usize, samples: &[f32], width: usize) -> Mlp {
        let inputs = Activations::new(Steps::of_inputs(samples, width), samples);
        let (stem, mut stream) = inputs.start(parameters.next());
        let mut block = || {
            let (first, inner) = stream.bytes.hidden(parameters.next());
            [first, stream.residual(parameters.next(), &inner)]
        };
        let blocks = (0..blocks).map(|_| block()).collect();
        let policy = stream.bytes.layer(parameters.next());
        let (value_hidden, hidden) = stream.bytes.hidden(parameters.next());
        let value = hidden.layer(parameters.next());
        Mlp { inputs: inputs.steps, stem, blocks, policy, value_hidden, value }
    }

    pub(super) fn buffers(&self) -> Buffers {
        let bytes = vec![0; ROWS * self.stem.stride()];
        Buffers {
            inputs: vec![0; ROWS * self.inputs.stride()],
            stream: vec![0.0; bytes.len()],
            inner: bytes.clone(),
            bytes,
            hidden: vec![0; ROWS * self.value_hidden.stride()],
        }
    }

    /// Evaluates rows of observations.
    pub(super) fn evaluate(
        &self,
        with: IntegerInstructions,
        buffers: &mut Buffers,
        observations: &[f32],
        policy: &mut [f32],
        value: &mut [f32],
    ) {
        let width = self.inputs.width();
        let groups = observations.chunks(ROWS * width).zip(policy.chunks_mut(ROWS * self.policy.outputs()));
        for ((observations, policy), value) in groups.zip(value.chunks_mut(ROWS * self.value.outputs())) {
            let rows = observations.len() / width;
            let inputs = &mut buffers.inputs[..rows * self.inputs.stride()];
            let stream = &mut buffers.stream[..rows * self.stem.stride()];
            let bytes = &mut buffers.bytes[..rows * self.stem.stride()];
            let inner = &mut buffers.inner[..rows * self.stem.stride()];
            let hidden = &mut buffers.hidden[..rows * self.value_hidden.stride()];
            self.inputs.quantise(with, observations, inputs);
            self.stem.apply(with, rows, inputs, Destination::Start { stream, bytes });
            for [first, second] in &self.blocks {
                first.apply(with, rows, bytes, Destination::Bytes(inner));
                second.apply(with, rows, inner, Destination::Residual { stream, bytes });
            }
            self.policy.apply(with, rows, bytes, Destination::Numbers(policy));
            self.value_hidden.apply(with, rows, bytes, Destination::Bytes(hidden));
            self.value.apply(with, rows, hidden, Destination::Numbers(value));
        }
    }
}

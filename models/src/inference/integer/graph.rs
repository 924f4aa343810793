//! The residual graph network with weights of eight bits.

use super::super::neighbours::Neighbours;
use super::super::points::Reader;
use super::calibration::{Activations, Parameters};
use super::kernel::{Destination, IntegerInstructions};
use super::layer::Layer;
use super::points::{HeadBuffers, Heads};
use super::steps::Steps;
use crate::shape::Shape;

/// Number of points that pass through the network together.
const ROWS: usize = 192;

/// The layers.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    reader: Reader,
    neighbours: Neighbours,
    points: usize,
    inputs: Steps,
    stem: Layer,
    /// Two layers per block, the first over the neighbours of each point, the second over the point alone.
    blocks: Vec<[Layer; 2]>,
    heads: Heads,
}

/// The buffers for a group of positions, each with room for whole strips.
#[derive(Debug, Clone)]
pub(super) struct Buffers {
    group: usize,
    /// Features per point, `[group * points, features]`.
    features: Vec<f32>,
    inputs: Vec<u8>,
    stream: Vec<f32>,
    bytes: Vec<u8>,
    inner: Vec<u8>,
    heads: HeadBuffers,
}

impl Graph {
    /// Quantises the parameters, which come in the order of the layout.
    pub(super) fn new(
        mut parameters: Parameters<'_>,
        blocks: usize,
        neighbours: Neighbours,
        shape: &Shape,
        samples: &[f32],
    ) -> Graph {
        let (reader, points) = (Reader::new(shape), shape.board.points);
        let mut features = vec![0.0; samples.len() / reader.inputs() * points * reader.features()];
        reader.read(samples, &mut features);
        let inputs = Activations::new(Steps::of_inputs(&features, reader.features()), &features);
        let (stem, mut stream) = inputs.start(parameters.next());
        let mut block = || {
            let (first, inner) = stream.bytes.hidden_around(parameters.next(), &neighbours);
            [first, stream.residual(parameters.next(), &inner)]
        };
        let blocks = (0..blocks).map(|_| block()).collect();
        let heads = Heads::new(parameters, points, &stream.bytes);
        Graph { reader, neighbours, points, inputs: inputs.steps, stem, blocks, heads }
    }

    pub(super) fn buffers(&self, max_batch: usize) -> Buffers {
        let group = (ROWS / self.points).clamp(1, max_batch);
        let rows = group * self.points;
        let bytes = vec![0; rows * self.stem.stride()];
        Buffers {
            group,
            features: vec![0.0; rows * self.reader.features()],
            inputs: vec![0; rows * self.inputs.stride()],
            stream: vec![0.0; bytes.len()],
            inner: bytes.clone(),
            bytes,
            heads: self.heads.buffers(group),
        }
    }

    /// Evaluates `batch` observations.
    pub(super) fn evaluate(
        &self,
        with: IntegerInstructions,
        buffers: &mut Buffers,
        observations: &[f32],
        policy: &mut [f32],
        value: &mut [f32],
    ) {
        let width = self.reader.inputs();
        for (group, observations) in observations.chunks(buffers.group * width).enumerate() {
            let positions = observations.len() / width;
            let rows = positions * self.points;
            let features = &mut buffers.features[..rows * self.reader.features()];
            let inputs = &mut buffers.inputs[..rows * self.inputs.stride()];
            let stream = &mut buffers.stream[..rows * self.stem.stride()];
            let bytes = &mut buffers.bytes[..rows * self.stem.stride()];
            let inner = &mut buffers.inner[..rows * self.stem.stride()];
            self.reader.read(observations, features);
            self.inputs.quantise(with, features, inputs);
            self.stem.apply(with, rows, inputs, Destination::Start { stream, bytes });
            for [around, alone] in &self.blocks {
                around.apply_around(with, positions, &self.neighbours, bytes, Destination::Bytes(inner));
                alone.apply(with, rows, inner, Destination::Residual { stream, bytes });
            }
            let place = [positions, group * buffers.group];
            self.heads.evaluate(with, &mut buffers.heads, place, bytes, policy, value);
        }
    }
}

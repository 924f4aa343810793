//! The MLP-Mixer over points with weights of eight bits.

use super::super::mixer::transpose;
use super::super::points::Reader;
use super::calibration::{Activations, Parameters, relu};
use super::kernel::{Destination, IntegerInstructions};
use super::layer::Layer;
use super::points::{HeadBuffers, Heads};
use super::steps::Steps;
use crate::shape::Shape;

/// The layers. The stream has both signs, so it is quantised before each step.
#[derive(Debug, Clone)]
pub(super) struct Mixer {
    reader: Reader,
    points: usize,
    inputs: Steps,
    stem: Layer,
    blocks: Vec<[Step; 2]>,
    tower: Steps,
    heads: Heads,
}

/// A step `x -> x + second(relu(first(x)))` for each row.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    inputs: Steps,
    first: Layer,
    second: Layer,
}

/// The buffers for one position.
#[derive(Debug, Clone)]
pub(super) struct Buffers {
    /// Features per point, `[points, features]`.
    features: Vec<f32>,
    /// The residual stream, `[points, channels]`.
    stream: Vec<f32>,
    /// The residual stream transposed, `[channels, points]`.
    transposed: Vec<f32>,
    /// What a layer reads.
    bytes: Vec<u8>,
    /// Hidden units of a step.
    inner: Vec<u8>,
    heads: HeadBuffers,
}

impl Mixer {
    /// Quantises the parameters, which come in the order of the layout.
    pub(super) fn new(mut parameters: Parameters<'_>, blocks: usize, shape: &Shape, samples: &[f32]) -> Mixer {
        let (reader, points) = (Reader::new(shape), shape.board.points);
        let positions = samples.len() / reader.inputs();
        let mut features = vec![0.0; positions * points * reader.features()];
        reader.read(samples, &mut features);
        let inputs = Activations::new(Steps::of_inputs(&features, reader.features()), &features);
        let (stem, stream) = inputs.start(parameters.next());
        let (channels, mut stream) = (stem.outputs(), stream.into_numbers());
        let mut turned = vec![0.0; stream.len()];
        let mut blocks_done = Vec::new();
        for _ in 0..blocks {
            transpose_all(&stream, channels, points, &mut turned);
            let across_points = Step::new(&mut parameters, &mut turned, points);
            transpose_all(&turned, points, channels, &mut stream);
            blocks_done.push([across_points, Step::new(&mut parameters, &mut stream, channels)]);
        }
        relu(&mut stream);
        let tower = Activations::new(Steps::of_activations(&stream, channels), &stream);
        let heads = Heads::new(parameters, points, &tower);
        Mixer { reader, points, inputs: inputs.steps, stem, blocks: blocks_done, tower: tower.steps, heads }
    }

    pub(super) fn buffers(&self) -> Buffers {
        let (points, channels) = (self.points, self.stem.outputs());
        let stream = vec![0.0; points * channels];
        let steps = self.blocks.iter().flatten().map(|step| (step.inputs.stride(), step.first.stride()));
        let (widest, hidden) = steps.fold((0, 0), |(a, b), (c, d)| (a.max(c), b.max(d)));
        let widest = widest.max(self.inputs.stride()).max(self.tower.stride());
        Buffers {
            features: vec![0.0; points * self.reader.features()],
            transposed: stream.clone(),
            stream,
            bytes: vec![0; points.max(channels) * widest],
            inner: vec![0; points.max(channels) * hidden],
            heads: self.heads.buffers(1),
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
        let (points, channels) = (self.points, self.stem.outputs());
        for (position, observations) in observations.chunks_exact(self.reader.inputs()).enumerate() {
            let Buffers { features, stream, transposed, bytes, inner, heads } = &mut *buffers;
            self.reader.read(observations, features);
            let inputs = &mut bytes[..points * self.inputs.stride()];
            self.inputs.quantise(with, features, inputs);
            self.stem.apply(with, points, inputs, Destination::Numbers(stream));
            relu(stream);
            for [across_points, across_channels] in &self.blocks {
                transpose(stream, channels, transposed);
                across_points.apply(with, channels, transposed, bytes, inner);
                transpose(transposed, points, stream);
                across_channels.apply(with, points, stream, bytes, inner);
            }
            relu(stream);
            let tower = &mut bytes[..points * self.tower.stride()];
            self.tower.quantise(with, stream, tower);
            self.heads.evaluate(with, heads, [1, position], tower, policy, value);
        }
    }
}

impl Step {
    /// Quantises the next two layers, and adds their outputs to the stream of all samples, `[rows, width]`.
    fn new(parameters: &mut Parameters<'_>, stream: &mut [f32], width: usize) -> Step {
        let x = Activations::new(Steps::of_signed(stream, width), stream);
        let (first, inner) = x.hidden(parameters.next());
        let second = inner.add(parameters.next(), stream);
        Step { inputs: x.steps, first, second }
    }

    fn apply(&self, with: IntegerInstructions, rows: usize, x: &mut [f32], bytes: &mut [u8], inner: &mut [u8]) {
        let bytes = &mut bytes[..rows * self.inputs.stride()];
        let inner = &mut inner[..rows * self.first.stride()];
        self.inputs.quantise(with, x, bytes);
        self.first.apply(with, rows, bytes, Destination::Bytes(inner));
        self.second.apply(with, rows, inner, Destination::Sum(x));
    }
}

/// Transposes the matrix of each sample, `[rows, columns]`.
fn transpose_all(x: &[f32], columns: usize, rows: usize, y: &mut [f32]) {
    for (x, y) in x.chunks_exact(rows * columns).zip(y.chunks_exact_mut(rows * columns)) {
        transpose(x, columns, y);
    }
}

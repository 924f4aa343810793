//! The MLP-mixer over points at play, one position after the other so that it stays in the cache.

use super::points::{Heads, Reader};
use super::{Dense, Destination, product};
use crate::shape::Shape;

/// The network with its buffers.
#[derive(Debug, Clone)]
pub(super) struct Mixer {
    reader: Reader,
    points: usize,
    stem: Dense,
    blocks: Vec<Block>,
    heads: Heads,
    /// What each point is told, `[points, features]`.
    features: Vec<f32>,
    /// The residual stream, `[points, channels]`.
    stream: Vec<f32>,
    /// Between the two layers of a step, `[hidden, channels]` or `[points, hidden]`.
    inner: Vec<f32>,
}

#[derive(Debug, Clone)]
struct Block {
    points: [Across; 2],
    channels: [Dense; 2],
}

/// A layer across the points of each channel: `y = W x + b` for `x [points in, channels]`.
#[derive(Debug, Clone)]
struct Across {
    /// `[out, in]`: the layer's matrix transposed.
    weight: Vec<f32>,
    /// `[out]`.
    bias: Vec<f32>,
}

impl Mixer {
    /// Takes its layers in the order of the layout.
    pub(super) fn new(next: &mut impl FnMut() -> Dense, blocks: usize, shape: &Shape, max_batch: usize) -> Mixer {
        let (reader, points) = (Reader::new(shape), shape.board.points);
        let stem = next();
        let mut block = || {
            let across = [Across::new(&next()), Across::new(&next())];
            Block { points: across, channels: [next(), next()] }
        };
        let blocks: Vec<Block> = (0..blocks).map(|_| block()).collect();
        let heads = Heads::new(next, points, max_batch);
        let channels = stem.outputs();
        let hidden = blocks.first().map_or(0, |block| block.channels[0].outputs());
        Mixer {
            features: vec![0.0; points * reader.features()],
            stream: vec![0.0; points * channels],
            inner: vec![0.0; hidden * points.max(channels)],
            reader,
            points,
            stem,
            blocks,
            heads,
        }
    }

    pub(super) fn evaluate(&mut self, batch: usize, inputs: &[f32], policy: &mut [f32], value: &mut [f32]) {
        let (rows, channels) = (self.points, self.stem.outputs());
        for (position, inputs) in inputs.chunks_exact(self.reader.inputs()).enumerate() {
            self.reader.read(inputs, &mut self.features);
            self.stem.rectified(rows, &self.features, &mut self.stream);
            for Block { points, channels: of_channels } in &self.blocks {
                points[0].rectified(channels, &self.stream, &mut self.inner);
                points[1].added(channels, &self.inner, &mut self.stream);
                of_channels[0].rectified(rows, &self.stream, &mut self.inner);
                of_channels[1].added(rows, &self.inner, &mut self.stream);
            }
            self.stream.iter_mut().for_each(|x| *x = x.max(0.0));
            self.heads.read(position, 1, &self.stream);
        }
        self.heads.evaluate(batch, policy, value);
    }
}

impl Across {
    fn new(layer: &Dense) -> Across {
        let outputs = layer.outputs();
        let column = |output| layer.weight.iter().skip(output).step_by(outputs).copied();
        Across { weight: (0..outputs).flat_map(column).collect(), bias: layer.bias.clone() }
    }

    /// `y = relu(W x + b)`
    fn rectified(&self, channels: usize, x: &[f32], y: &mut [f32]) {
        self.multiply(channels, x, y, Destination::Overwrite);
        self.for_each(channels, y, |sum, bias| (sum + bias).max(0.0));
    }

    /// `y = y + W x + b`
    fn added(&self, channels: usize, x: &[f32], y: &mut [f32]) {
        self.multiply(channels, x, y, Destination::Add);
        self.for_each(channels, y, |sum, bias| sum + bias);
    }

    fn multiply(&self, channels: usize, x: &[f32], y: &mut [f32], destination: Destination) {
        let outputs = self.bias.len();
        let inputs = self.weight.len() / outputs;
        let (x, y) = (&x[..inputs * channels], &mut y[..outputs * channels]);
        product([outputs, inputs, channels], &self.weight, x, y, destination);
    }

    /// The one pass over the rows after a product.
    #[inline]
    fn for_each(&self, channels: usize, y: &mut [f32], f: impl Fn(f32, f32) -> f32) {
        for (row, &bias) in y.chunks_exact_mut(channels).zip(&self.bias) {
            row.iter_mut().for_each(|y| *y = f(*y, bias));
        }
    }
}

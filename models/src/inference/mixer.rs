//! Inference of the MLP-Mixer over points, one position at a time so that its buffers stay in the cache.

use super::kernel::Finish;
use super::layer::Layer;
use super::layers::Layers;
use super::points::{Heads, Reader};
use crate::shape::Shape;

/// The network with its buffers.
#[derive(Debug, Clone)]
pub(super) struct Mixer {
    reader: Reader,
    points: usize,
    stem: Layer,
    blocks: Vec<Block>,
    heads: Heads,
    /// Features per point, `[points, features]`.
    features: Vec<f32>,
    /// The residual stream, `[points, channels]`.
    stream: Vec<f32>,
    /// The residual stream transposed, `[channels, points]`.
    transposed: Vec<f32>,
    /// Hidden units of a step, `[channels, hidden]` or `[points, hidden]`.
    inner: Vec<f32>,
}

#[derive(Debug, Clone)]
struct Block {
    /// Across the points of each channel.
    points: [Layer; 2],
    /// Across the channels of each point.
    channels: [Layer; 2],
}

impl Mixer {
    /// Takes its layers in the order of the layout.
    pub(super) fn new(mut layers: Layers<'_>, blocks: usize, shape: &Shape, max_batch: usize) -> Mixer {
        let (reader, points) = (Reader::new(shape), shape.board.points);
        let stem = layers.dense();
        let mut pair = || [layers.dense(), layers.dense()];
        let blocks: Vec<Block> = (0..blocks).map(|_| Block { points: pair(), channels: pair() }).collect();
        let heads = Heads::new(layers, points, max_batch);
        let channels = stem.outputs();
        let hidden = blocks.first().map_or(0, |block| block.channels[0].outputs());
        Mixer {
            features: vec![0.0; points * reader.features()],
            stream: vec![0.0; points * channels],
            transposed: vec![0.0; points * channels],
            inner: vec![0.0; hidden * points.max(channels)],
            reader,
            points,
            stem,
            blocks,
            heads,
        }
    }

    pub(super) fn evaluate(&mut self, batch: usize, inputs: &[f32], policy: &mut [f32], value: &mut [f32]) {
        let (points, channels) = (self.points, self.stem.outputs());
        for (position, inputs) in inputs.chunks_exact(self.reader.inputs()).enumerate() {
            let Self { stream, transposed, .. } = self;
            self.reader.read(inputs, &mut self.features);
            self.stem.apply(points, &self.features, stream, Finish::Relu);
            for block in &self.blocks {
                transpose(stream, channels, transposed);
                mix(&block.points, channels, transposed, &mut self.inner);
                transpose(transposed, points, stream);
                mix(&block.channels, points, stream, &mut self.inner);
            }
            stream.iter_mut().for_each(|x| *x = x.max(0.0));
            self.heads.read(position, 1, stream);
        }
        self.heads.evaluate(batch, policy, value);
    }
}

/// `x = x + second(relu(first(x)))` for each row.
fn mix([first, second]: &[Layer; 2], rows: usize, x: &mut [f32], inner: &mut [f32]) {
    let inner = &mut inner[..rows * first.outputs()];
    first.apply(rows, x, inner, Finish::Relu);
    second.apply(rows, inner, x, Finish::Add);
}

/// Transposes `x [rows, columns]` into `y [columns, rows]`.
pub(super) fn transpose(x: &[f32], columns: usize, y: &mut [f32]) {
    let rows = x.len() / columns;
    for (column, y) in y.chunks_exact_mut(rows).enumerate() {
        y.iter_mut().zip(x.chunks_exact(columns)).for_each(|(y, row)| *y = row[column]);
    }
}

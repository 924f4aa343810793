//! Inference of the residual graph network, a few positions at a time so that their buffers stay in the cache.

use super::kernel::Finish;
use super::layer::Layer;
use super::layers::Layers;
use super::neighbours::Neighbours;
use super::points::{Heads, Reader};
use crate::shape::{Shape, Taps};

/// Number of points that pass through the tower together.
const ROWS: usize = 192;

/// The network with its buffers.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    reader: Reader,
    neighbours: Neighbours,
    points: usize,
    /// Number of positions that pass through the tower together.
    group: usize,
    stem: Layer,
    /// Two layers per block, the first over the neighbours of each point, the second over the point alone.
    blocks: Vec<[Layer; 2]>,
    heads: Heads,
    /// Features per point, `[group * points, features]`.
    features: Vec<f32>,
    /// The residual stream, `[group * points, channels]`.
    stream: Vec<f32>,
    /// Hidden units of a block, `[group * points, channels]`.
    inner: Vec<f32>,
}

impl Graph {
    /// Takes its layers in the order of the layout.
    pub(super) fn new(mut layers: Layers<'_>, blocks: usize, taps: &Taps, shape: &Shape, max_batch: usize) -> Graph {
        let (reader, points) = (Reader::new(shape), shape.board.points);
        let group = (ROWS / points).clamp(1, max_batch);
        let stem = layers.dense();
        let blocks = (0..blocks).map(|_| [layers.around(taps.count), layers.dense()]).collect();
        let heads = Heads::new(layers, points, max_batch);
        let (rows, channels) = (group * points, stem.outputs());
        Graph {
            features: vec![0.0; rows * reader.features()],
            stream: vec![0.0; rows * channels],
            inner: vec![0.0; rows * channels],
            neighbours: Neighbours::of_taps(taps, points),
            reader,
            points,
            group,
            stem,
            blocks,
            heads,
        }
    }

    pub(super) fn evaluate(&mut self, batch: usize, inputs: &[f32], policy: &mut [f32], value: &mut [f32]) {
        let (channels, width) = (self.stem.outputs(), self.reader.inputs());
        for start in (0..batch).step_by(self.group) {
            let positions = self.group.min(batch - start);
            let rows = positions * self.points;
            let features = &mut self.features[..rows * self.reader.features()];
            let (stream, inner) = (&mut self.stream[..rows * channels], &mut self.inner[..rows * channels]);
            self.reader.read(&inputs[start * width..][..positions * width], features);
            self.stem.apply(rows, features, stream, Finish::Relu);
            for [around, alone] in &self.blocks {
                around.apply_around(positions, &self.neighbours, stream, inner, Finish::Relu);
                alone.apply(rows, inner, stream, Finish::AddRelu);
            }
            self.heads.read(start, positions, stream);
        }
        self.heads.evaluate(batch, policy, value);
    }
}

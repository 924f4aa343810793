//! Inference of the network of convolutions, a few positions at a time so that their buffers stay in the cache.

use super::kernel::Finish;
use super::layer::Layer;
use super::layers::Layers;
use super::neighbours::Neighbours;
use super::over_board::{add_gated, add_to_points, mean, pool, sigmoid};
use super::points::{Heads, Reader};
use crate::config::OverBoard;
use crate::shape::{Shape, Taps};

/// Number of points that pass through the tower together.
const ROWS: usize = 192;

/// The network with its buffers.
#[derive(Debug, Clone)]
pub(super) struct Conv {
    reader: Reader,
    neighbours: Neighbours,
    points: usize,
    /// Number of positions that pass through the tower together.
    group: usize,
    stem: Layer,
    blocks: Vec<Block>,
    heads: Heads,
    /// Features per point, `[group * points, features]`.
    features: Vec<f32>,
    /// The residual stream, `[group * points, channels]`.
    stream: Vec<f32>,
    /// Hidden channels of a block, `[group * points, channels]`.
    inner: Vec<f32>,
    board: BoardBuffers,
}

#[derive(Debug, Clone)]
struct Block {
    first: Layer,
    second: Layer,
    pooled: Option<Layer>,
    excitation: Option<[Layer; 2]>,
}

/// Buffers of the layers over the whole board; empty without such layers.
#[derive(Debug, Clone, Default)]
struct BoardBuffers {
    /// What a block adds to the stream, `[group * points, channels]`.
    change: Vec<f32>,
    /// Means and maxima, `[group, 2, channels]`.
    pooled: Vec<f32>,
    /// `[group, channels]`.
    per_channel: Vec<f32>,
    /// `[group, hidden]`.
    squeezed: Vec<f32>,
}

impl Conv {
    /// Takes its layers in the order of the layout.
    pub(super) fn new(
        mut layers: Layers<'_>,
        (blocks, over_board): (usize, OverBoard),
        taps: &Taps,
        shape: &Shape,
        max_batch: usize,
    ) -> Conv {
        let (reader, points) = (Reader::new(shape), shape.board.points);
        let group = (ROWS / points).clamp(1, max_batch);
        let stem = layers.around(taps.count);
        let mut block = || Block {
            first: layers.around(taps.count),
            second: layers.around(taps.count),
            pooled: over_board.pools.then(|| layers.dense()),
            excitation: over_board.excites.then(|| [layers.dense(), layers.dense()]),
        };
        let blocks: Vec<Block> = (0..blocks).map(|_| block()).collect();
        let heads = Heads::new(layers, points, max_batch);
        let (rows, channels) = (group * points, stem.outputs());
        let board = blocks.first().map(|block| BoardBuffers::new(block, [group, rows, channels])).unwrap_or_default();
        Conv {
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
            board,
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
            self.stem.apply_around(positions, &self.neighbours, features, stream, Finish::Relu);
            for block in &self.blocks {
                block.first.apply_around(positions, &self.neighbours, stream, inner, Finish::Relu);
                block.add(positions, &self.neighbours, inner, &mut self.board, stream);
            }
            self.heads.read(start, positions, stream);
        }
        self.heads.evaluate(batch, policy, value);
    }
}

impl Block {
    /// Computes the next stream from this one and the hidden channels.
    fn add(
        &self,
        positions: usize,
        neighbours: &Neighbours,
        inner: &[f32],
        buffers: &mut BoardBuffers,
        stream: &mut [f32],
    ) {
        if self.pooled.is_none() && self.excitation.is_none() {
            self.second.apply_around(positions, neighbours, inner, stream, Finish::AddRelu);
            return;
        }
        let channels = self.second.outputs();
        let change = &mut buffers.change[..stream.len()];
        let per_channel = &mut buffers.per_channel[..positions * channels];
        self.second.apply_around(positions, neighbours, inner, change, Finish::Plain);
        if let Some(layer) = &self.pooled {
            let pooled = &mut buffers.pooled[..2 * positions * channels];
            pool(inner, channels, pooled);
            layer.apply(positions, pooled, per_channel, Finish::Plain);
            add_to_points(per_channel, channels, change);
        }
        match &self.excitation {
            Some([squeeze, excite]) => {
                let squeezed = &mut buffers.squeezed[..positions * squeeze.outputs()];
                mean(change, channels, per_channel);
                squeeze.apply(positions, per_channel, squeezed, Finish::Relu);
                excite.apply(positions, squeezed, per_channel, Finish::Plain);
                sigmoid(per_channel);
            }
            None => per_channel.fill(1.0),
        }
        add_gated(change, per_channel, channels, stream);
    }
}

impl BoardBuffers {
    fn new(block: &Block, [group, rows, channels]: [usize; 3]) -> BoardBuffers {
        if block.pooled.is_none() && block.excitation.is_none() {
            return BoardBuffers::default();
        }
        let hidden = block.excitation.as_ref().map_or(0, |[squeeze, _]| squeeze.outputs());
        BoardBuffers {
            change: vec![0.0; rows * channels],
            pooled: vec![0.0; 2 * group * channels],
            per_channel: vec![0.0; group * channels],
            squeezed: vec![0.0; group * hidden],
        }
    }
}

//! The residual network over the board's neighbour graph at play, a few positions at a time so that they stay in the cache.

use super::Dense;
use super::points::{Heads, Reader};
use crate::shape::{Shape, Taps};

/// Rows of points that pass through the tower together.
const ROWS: usize = 192;

/// The network with its buffers.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    reader: Reader,
    taps: Taps,
    points: usize,
    /// Positions that pass through the tower together.
    group: usize,
    stem: Dense,
    blocks: Vec<[Dense; 2]>,
    heads: Heads,
    /// What each point is told, `[group * points, features]`.
    features: Vec<f32>,
    /// The residual stream, `[group * points, channels]`.
    stream: Vec<f32>,
    /// Each point with those near it, `[group * points, taps * channels]`.
    gathered: Vec<f32>,
    /// Between the two layers of a block, `[group * points, channels]`.
    inner: Vec<f32>,
}

impl Graph {
    /// Takes its layers in the order of the layout.
    pub(super) fn new(
        next: &mut impl FnMut() -> Dense,
        blocks: usize,
        taps: Taps,
        shape: &Shape,
        max_batch: usize,
    ) -> Graph {
        let (reader, points) = (Reader::new(shape), shape.board.points);
        let group = (ROWS / points).clamp(1, max_batch);
        let stem = next();
        let blocks = (0..blocks).map(|_| [next(), next()]).collect();
        let heads = Heads::new(next, points, max_batch);
        let (rows, channels) = (group * points, stem.outputs());
        Graph {
            features: vec![0.0; rows * reader.features()],
            stream: vec![0.0; rows * channels],
            gathered: vec![0.0; rows * taps.count * channels],
            inner: vec![0.0; rows * channels],
            reader,
            taps,
            points,
            group,
            stem,
            blocks,
            heads,
        }
    }

    pub(super) fn evaluate(&mut self, batch: usize, inputs: &[f32], policy: &mut [f32], value: &mut [f32]) {
        let channels = self.stem.outputs();
        let width = self.reader.inputs();
        for start in (0..batch).step_by(self.group) {
            let positions = self.group.min(batch - start);
            let rows = positions * self.points;
            self.reader.read(&inputs[start * width..][..positions * width], &mut self.features);
            self.stem.rectified(rows, &self.features, &mut self.stream);
            for [first, second] in &self.blocks {
                for (x, near) in self.stream[..rows * channels]
                    .chunks_exact(self.points * channels)
                    .zip(self.gathered.chunks_exact_mut(self.taps.table.len() * channels))
                {
                    gather(&self.taps, channels, x, near);
                }
                first.rectified(rows, &self.gathered, &mut self.inner);
                second.added_and_rectified(rows, &self.inner, &mut self.stream);
            }
            self.heads.read(start, positions, &self.stream);
        }
        self.heads.evaluate(batch, policy, value);
    }
}

/// Puts the channels of each point of one position and of those near it side by side, zeros beyond the end of a line:
/// `[points, channels]` to `[points, taps * channels]`.
fn gather(taps: &Taps, channels: usize, x: &[f32], near: &mut [f32]) {
    for (tap, near) in taps.table.iter().zip(near.chunks_exact_mut(channels)) {
        match tap {
            Some(point) => near.copy_from_slice(&x[usize::from(*point) * channels..][..channels]),
            None => near.fill(0.0),
        }
    }
}

//! The tower of the MLP-Mixer over points.

use super::linear::{Linear, Linears, through_relu};
use crate::inference::{Finish, transpose};
use crate::weights::Weights;

/// A stem, blocks that mix points and channels in turn, and a ReLU.
#[derive(Debug)]
pub(super) struct Mixing {
    stem: Linear,
    blocks: Vec<Block>,
    points: usize,
}

#[derive(Debug)]
struct Block {
    /// Across the points of each channel.
    points: Step,
    /// Across the channels of each point.
    channels: Step,
}

/// `x -> x + second(relu(first(x)))` for each row.
#[derive(Debug)]
struct Step {
    first: Linear,
    second: Linear,
}

/// What the way back needs of the way forwards.
#[derive(Debug, Default)]
pub(super) struct Activations {
    /// The output of the stem, `[positions, points, channels]`.
    stem: Vec<f32>,
    blocks: Vec<BlockActivations>,
    /// The stream between steps, `[positions, points, channels]`; in the end the output of the tower.
    stream: Vec<f32>,
    /// Gradients of a transposed stream.
    transposed: Vec<f32>,
    /// Gradients of hidden units.
    hidden: Vec<f32>,
}

#[derive(Debug, Default)]
struct BlockActivations {
    points: StepActivations,
    channels: StepActivations,
}

/// A step's inputs, `[rows, size]`, and its hidden units, `[rows, hidden]`.
#[derive(Debug, Default)]
struct StepActivations {
    inputs: Vec<f32>,
    hidden: Vec<f32>,
}

impl Mixing {
    /// Takes its layers.
    pub(super) fn new(linears: &mut Linears<'_>, blocks: usize, points: usize) -> Mixing {
        let stem = linears.dense();
        let mut step = || Step { first: linears.dense(), second: linears.dense() };
        let blocks = (0..blocks).map(|_| Block { points: step(), channels: step() }).collect();
        Mixing { stem, blocks, points }
    }

    /// Number of outputs per point.
    pub(super) fn channels(&self) -> usize {
        self.stem.outputs()
    }

    /// Computes the output of the tower, [`Activations::output`], from the features of each point.
    pub(super) fn apply(&self, positions: usize, features: &[f32], kept: &mut Activations) {
        let (points, channels) = (self.points, self.channels());
        let (of_points, of_channels) = (positions * channels, positions * points);
        let Activations { stem, blocks, stream, transposed, .. } = kept;
        [&mut *stem, stream, transposed].into_iter().for_each(|buffer| buffer.resize(of_channels * channels, 0.0));
        blocks.resize_with(self.blocks.len(), BlockActivations::default);
        self.stem.apply(of_channels, features, stem, Finish::Relu);
        stream.copy_from_slice(stem);
        for (block, kept) in self.blocks.iter().zip(blocks) {
            transpose_each(stream, channels, points, transposed);
            block.points.apply(of_points, transposed, &mut kept.points);
            transpose_each(transposed, points, channels, stream);
            block.channels.apply(of_channels, stream, &mut kept.channels);
        }
        stream.iter_mut().for_each(|x| *x = x.max(0.0));
    }

    /// Adds the gradients of all layers, given the gradients `d` of the output, which are changed.
    pub(super) fn apply_backwards(
        &self,
        positions: usize,
        features: &[f32],
        kept: &mut Activations,
        d: &mut [f32],
        gradients: &mut Weights,
    ) {
        let (points, channels) = (self.points, self.channels());
        let (of_points, of_channels) = (positions * channels, positions * points);
        let Activations { stem, blocks, stream, transposed, hidden } = kept;
        through_relu(stream, d);
        for (block, kept) in self.blocks.iter().zip(blocks).rev() {
            block.channels.apply_backwards(of_channels, &kept.channels, d, hidden, gradients);
            transpose_each(d, channels, points, transposed);
            block.points.apply_backwards(of_points, &kept.points, transposed, hidden, gradients);
            transpose_each(transposed, points, channels, d);
        }
        through_relu(stem, d);
        self.stem.add_gradients(of_channels, features, d, gradients);
    }
}

impl Step {
    fn apply(&self, rows: usize, x: &mut [f32], kept: &mut StepActivations) {
        kept.inputs.clear();
        kept.inputs.extend_from_slice(x);
        kept.hidden.resize(rows * self.first.outputs(), 0.0);
        self.first.apply(rows, x, &mut kept.hidden, Finish::Relu);
        self.second.apply(rows, &kept.hidden, x, Finish::Add);
    }

    fn apply_backwards(
        &self,
        rows: usize,
        kept: &StepActivations,
        d: &mut [f32],
        d_hidden: &mut Vec<f32>,
        gradients: &mut Weights,
    ) {
        d_hidden.resize(kept.hidden.len(), 0.0);
        self.second.add_gradients(rows, &kept.hidden, d, gradients);
        self.second.apply_backwards(rows, d, d_hidden, Finish::Plain);
        through_relu(&kept.hidden, d_hidden);
        self.first.add_gradients(rows, &kept.inputs, d_hidden, gradients);
        self.first.apply_backwards(rows, d_hidden, d, Finish::Add);
    }
}

impl Activations {
    /// The output of the tower, `[positions, points, channels]`.
    pub(super) fn output(&self) -> &[f32] {
        &self.stream
    }
}

/// Transposes each matrix `[rows, columns]` of `x` into one `[columns, rows]` of `y`.
fn transpose_each(x: &[f32], columns: usize, rows: usize, y: &mut [f32]) {
    let size = columns * rows;
    x.chunks_exact(size).zip(y.chunks_exact_mut(size)).for_each(|(x, y)| transpose(x, columns, y));
}

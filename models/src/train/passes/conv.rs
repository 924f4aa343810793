//! The tower of a network of convolutions: `x -> relu(x + g (W2 N(h) + b2 + p))` with `h = relu(W1 N(x) + b1)` per block,
//! where `p` is a layer of means and maxima of `h` over the board and `g` the gates of squeeze-and-excitation.

use std::sync::Arc;

use super::linear::{Around, Linear, Linears, through_relu};
use crate::config::OverBoard;
use crate::inference::{Finish, add_gated, add_to_points, mean, pool, sigmoid};
use crate::weights::Weights;

/// A stem and residual blocks.
#[derive(Debug)]
pub(super) struct Conv {
    stem: Linear,
    blocks: Vec<Block>,
    points: usize,
}

#[derive(Debug)]
struct Block {
    first: Linear,
    second: Linear,
    pooled: Option<Linear>,
    excitation: Option<[Linear; 2]>,
}

/// What the way back needs of the way forwards.
#[derive(Debug, Default)]
pub(super) struct Activations {
    /// The stream after the stem and after each block, `[positions, points, channels]`.
    streams: Vec<Vec<f32>>,
    blocks: Vec<BlockActivations>,
    /// Gradients of what a block adds to the stream and of its hidden channels, `[positions, points, channels]`.
    d_change: Vec<f32>,
    d_hidden: Vec<f32>,
    /// Gradients of numbers per channel of each position.
    d_channels: Vec<f32>,
    d_pooled: Vec<f32>,
    d_squeezed: Vec<f32>,
}

#[derive(Debug, Default)]
struct BlockActivations {
    /// `[positions, points, channels]`.
    hidden: Vec<f32>,
    /// What is added to the stream before its gates, `[positions, points, channels]`.
    change: Vec<f32>,
    /// Means and maxima of the hidden channels, `[positions, 2, channels]`.
    pooled: Vec<f32>,
    /// What the last of these is added to, `[positions, channels]`.
    everywhere: Vec<f32>,
    /// Means of the change, `[positions, channels]`.
    means: Vec<f32>,
    /// `[positions, units]`.
    squeezed: Vec<f32>,
    /// `[positions, channels]`.
    gates: Vec<f32>,
}

impl Conv {
    /// Takes its layers.
    pub(super) fn new(
        linears: &mut Linears<'_>,
        blocks: usize,
        over_board: OverBoard,
        points: usize,
        around: &Arc<Around>,
    ) -> Conv {
        let stem = linears.around(around);
        let mut block = || Block {
            first: linears.around(around),
            second: linears.around(around),
            pooled: over_board.pools.then(|| linears.dense()),
            excitation: over_board.excites.then(|| [linears.dense(), linears.dense()]),
        };
        Conv { stem, blocks: (0..blocks).map(|_| block()).collect(), points }
    }

    /// Computes the last stream, [`Activations::output`], from the features of each point.
    pub(super) fn apply(&self, positions: usize, features: &[f32], kept: &mut Activations) {
        let size = positions * self.points * self.stem.outputs();
        kept.streams.resize_with(self.blocks.len() + 1, Vec::new);
        kept.streams.iter_mut().for_each(|stream| stream.resize(size, 0.0));
        kept.blocks.resize_with(self.blocks.len(), BlockActivations::default);
        self.stem.apply(positions, features, &mut kept.streams[0], Finish::Relu);
        for (index, block) in self.blocks.iter().enumerate() {
            let [before, after] = &mut kept.streams[index..index + 2] else {
                unreachable!("a stream more than blocks")
            };
            block.apply(positions, before, after, &mut kept.blocks[index]);
        }
    }

    /// Adds the gradients of all layers, given the gradients `d` of the last stream, which are changed.
    pub(super) fn apply_backwards(
        &self,
        positions: usize,
        features: &[f32],
        kept: &mut Activations,
        d: &mut [f32],
        gradients: &mut Weights,
    ) {
        for (index, block) in self.blocks.iter().enumerate().rev() {
            through_relu(&kept.streams[index + 1], d);
            block.differentiate_change(positions, index, kept, d, gradients);
            block.differentiate_hidden(positions, index, kept, d, gradients);
        }
        through_relu(&kept.streams[0], d);
        self.stem.add_gradients(positions, features, d, gradients);
    }
}

impl Block {
    fn apply(&self, positions: usize, before: &[f32], after: &mut [f32], kept: &mut BlockActivations) {
        let channels = self.second.outputs();
        kept.hidden.resize(before.len(), 0.0);
        kept.change.resize(before.len(), 0.0);
        kept.gates.resize(positions * channels, 0.0);
        self.first.apply(positions, before, &mut kept.hidden, Finish::Relu);
        self.second.apply(positions, &kept.hidden, &mut kept.change, Finish::Plain);
        if let Some(layer) = &self.pooled {
            kept.pooled.resize(2 * positions * channels, 0.0);
            kept.everywhere.resize(positions * channels, 0.0);
            pool(&kept.hidden, channels, &mut kept.pooled);
            layer.apply(positions, &kept.pooled, &mut kept.everywhere, Finish::Plain);
            add_to_points(&kept.everywhere, channels, &mut kept.change);
        }
        match &self.excitation {
            Some([squeeze, excite]) => {
                kept.means.resize(positions * channels, 0.0);
                kept.squeezed.resize(positions * squeeze.outputs(), 0.0);
                mean(&kept.change, channels, &mut kept.means);
                squeeze.apply(positions, &kept.means, &mut kept.squeezed, Finish::Relu);
                excite.apply(positions, &kept.squeezed, &mut kept.gates, Finish::Plain);
                sigmoid(&mut kept.gates);
            }
            None => kept.gates.fill(1.0),
        }
        after.copy_from_slice(before);
        add_gated(&kept.change, &kept.gates, channels, after);
    }

    /// From the gradients `d` of the sum in a block to those of the change before its gates, `kept.d_change`.
    fn differentiate_change(
        &self,
        positions: usize,
        index: usize,
        kept: &mut Activations,
        d: &[f32],
        gradients: &mut Weights,
    ) {
        let Activations { blocks, d_change, d_channels, d_squeezed, .. } = kept;
        let (kept, channels) = (&blocks[index], self.second.outputs());
        d_change.resize(d.len(), 0.0);
        d_change.copy_from_slice(d);
        let Some([squeeze, excite]) = &self.excitation else { return };
        d_channels.resize(positions * channels, 0.0);
        d_squeezed.resize(kept.squeezed.len(), 0.0);
        gate_gradients(d, &kept.change, &kept.gates, channels, d_channels);
        excite.add_gradients(positions, &kept.squeezed, d_channels, gradients);
        excite.apply_backwards(positions, d_channels, d_squeezed, Finish::Plain);
        through_relu(&kept.squeezed, d_squeezed);
        squeeze.add_gradients(positions, &kept.means, d_squeezed, gradients);
        squeeze.apply_backwards(positions, d_squeezed, d_channels, Finish::Plain);
        // The mean over the points has the same slope at all of them.
        let board = d.len() / positions;
        let share = channels as f32 / board as f32;
        let boards = d_change.chunks_exact_mut(board).zip(kept.gates.chunks_exact(channels));
        for ((d_change, gates), d_means) in boards.zip(d_channels.chunks_exact(channels)) {
            for row in d_change.chunks_exact_mut(channels) {
                for ((d, gate), d_mean) in row.iter_mut().zip(gates).zip(d_means) {
                    *d = *d * gate + share * d_mean;
                }
            }
        }
    }

    /// From `kept.d_change` to the gradients of the stream before the block, which are added to `d`.
    fn differentiate_hidden(
        &self,
        positions: usize,
        index: usize,
        kept: &mut Activations,
        d: &mut [f32],
        gradients: &mut Weights,
    ) {
        let Activations { streams, blocks, d_change, d_hidden, d_channels, d_pooled, .. } = kept;
        let (kept, channels) = (&blocks[index], self.second.outputs());
        d_hidden.resize(d.len(), 0.0);
        self.second.add_gradients(positions, &kept.hidden, d_change, gradients);
        self.second.apply_backwards(positions, d_change, d_hidden, Finish::Plain);
        if let Some(layer) = &self.pooled {
            d_channels.resize(positions * channels, 0.0);
            d_pooled.resize(2 * positions * channels, 0.0);
            sum(d_change, channels, d_channels);
            layer.add_gradients(positions, &kept.pooled, d_channels, gradients);
            layer.apply_backwards(positions, d_channels, d_pooled, Finish::Plain);
            unpool(&kept.hidden, &kept.pooled, d_pooled, channels, d_hidden);
        }
        through_relu(&kept.hidden, d_hidden);
        self.first.add_gradients(positions, &streams[index], d_hidden, gradients);
        self.first.apply_backwards(positions, d_hidden, d, Finish::Add);
    }
}

/// The gradients before the sigmoid of the gates, `[boards, channels]`, given those of the gated numbers.
fn gate_gradients(d: &[f32], x: &[f32], gates: &[f32], channels: usize, d_gates: &mut [f32]) {
    let board = d.len() / (gates.len() / channels);
    let boards = d.chunks_exact(board).zip(x.chunks_exact(board));
    let channel_rows = gates.chunks_exact(channels).zip(d_gates.chunks_exact_mut(channels));
    for ((d, x), (gates, d_gates)) in boards.zip(channel_rows) {
        d_gates.fill(0.0);
        for (d, x) in d.chunks_exact(channels).zip(x.chunks_exact(channels)) {
            d_gates.iter_mut().zip(d.iter().zip(x)).for_each(|(sum, (d, x))| *sum += d * x);
        }
        d_gates.iter_mut().zip(gates).for_each(|(d, gate)| *d *= gate * (1.0 - gate));
    }
}

/// The sum over the points of each channel, `[boards, channels]`.
fn sum(x: &[f32], channels: usize, y: &mut [f32]) {
    let board = x.len() / (y.len() / channels);
    for (x, y) in x.chunks_exact(board).zip(y.chunks_exact_mut(channels)) {
        y.fill(0.0);
        for row in x.chunks_exact(channels) {
            y.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
    }
}

/// Adds the gradients of means and maxima, `[boards, 2, channels]`, to those of what they are of. Of several equal maxima the
/// first has the gradient.
fn unpool(x: &[f32], pooled: &[f32], d_pooled: &[f32], channels: usize, dx: &mut [f32]) {
    let board = x.len() / (pooled.len() / (2 * channels));
    let share = channels as f32 / board as f32;
    let boards = x.chunks_exact(board).zip(dx.chunks_exact_mut(board));
    let pooled = pooled.chunks_exact(2 * channels).zip(d_pooled.chunks_exact(2 * channels));
    for ((x, dx), (pooled, d_pooled)) in boards.zip(pooled) {
        for row in dx.chunks_exact_mut(channels) {
            row.iter_mut().zip(d_pooled).for_each(|(dx, d)| *dx += share * d);
        }
        for channel in 0..channels {
            let most = pooled[channels + channel];
            let first = x[channel..].iter().step_by(channels).position(|&x| x == most);
            if let Some(point) = first {
                dx[point * channels + channel] += d_pooled[channels + channel];
            }
        }
    }
}

impl Activations {
    /// The last stream.
    pub(super) fn output(&self) -> &[f32] {
        self.streams.last().expect("there is one after the stem")
    }
}

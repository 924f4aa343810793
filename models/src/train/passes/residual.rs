//! The tower of a residual MLP or graph network: `x -> relu(x + W2 relu(W1 x + b1) + b2)` per block.

use std::sync::Arc;

use super::linear::{Around, Linear, Linears, through_relu};
use crate::inference::Finish;
use crate::weights::Weights;

/// A stem and residual blocks. The first layer of a block may read neighbours; all others are dense.
#[derive(Debug)]
pub(super) struct Residual {
    stem: Linear,
    blocks: Vec<[Linear; 2]>,
    /// Points per position, 1 if the first layers are dense.
    points: usize,
}

/// What the way back needs of the way forwards, each `[positions, points, channels]`.
#[derive(Debug, Default)]
pub(super) struct Activations {
    /// The stream after the stem and after each block.
    streams: Vec<Vec<f32>>,
    /// The hidden units of each block.
    hidden: Vec<Vec<f32>>,
    /// Gradients of hidden units.
    gradients: Vec<f32>,
}

impl Residual {
    /// Takes its layers. Without `around` all of them are dense.
    pub(super) fn new(
        linears: &mut Linears<'_>,
        blocks: usize,
        points: usize,
        around: Option<&Arc<Around>>,
    ) -> Residual {
        let stem = linears.dense();
        let first = |linears: &mut Linears<'_>| match around {
            Some(around) => linears.around(around),
            None => linears.dense(),
        };
        Residual { stem, blocks: (0..blocks).map(|_| [first(linears), linears.dense()]).collect(), points }
    }

    /// Number of outputs per point.
    pub(super) fn channels(&self) -> usize {
        self.stem.outputs()
    }

    /// Computes the last stream from the features of each point. It is that of [`Activations::output`].
    pub(super) fn apply(&self, positions: usize, features: &[f32], kept: &mut Activations) {
        let (rows, size) = (positions * self.points, positions * self.points * self.channels());
        kept.streams.resize_with(self.blocks.len() + 1, Vec::new);
        kept.hidden.resize_with(self.blocks.len(), Vec::new);
        kept.streams.iter_mut().chain(&mut kept.hidden).for_each(|buffer| buffer.resize(size, 0.0));
        self.stem.apply(rows, features, &mut kept.streams[0], Finish::Relu);
        for (block, [first, second]) in self.blocks.iter().enumerate() {
            let [before, after] = &mut kept.streams[block..block + 2] else {
                unreachable!("a stream more than blocks")
            };
            let hidden = &mut kept.hidden[block];
            first.apply(positions, before, hidden, Finish::Relu);
            after.copy_from_slice(before);
            second.apply(rows, hidden, after, Finish::AddRelu);
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
        let rows = positions * self.points;
        let Activations { streams, hidden, gradients: d_hidden } = kept;
        d_hidden.resize(d.len(), 0.0);
        for (block, [first, second]) in self.blocks.iter().enumerate().rev() {
            through_relu(&streams[block + 1], d);
            second.add_gradients(rows, &hidden[block], d, gradients);
            second.apply_backwards(rows, d, d_hidden, Finish::Plain);
            through_relu(&hidden[block], d_hidden);
            first.add_gradients(positions, &streams[block], d_hidden, gradients);
            first.apply_backwards(positions, d_hidden, d, Finish::Add);
        }
        through_relu(&streams[0], d);
        self.stem.add_gradients(rows, features, d, gradients);
    }
}

impl Activations {
    /// The last stream.
    pub(super) fn output(&self) -> &[f32] {
        self.streams.last().expect("there is one after the stem")
    }
}

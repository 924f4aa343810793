//! An iterator over a network's layers in the order of their use.

use std::slice::ChunksExact;

use super::kernel::Instructions;
use super::layer::Layer;
use crate::weights::{NamedTensor, Weights};

/// The layers of a network in the order of its layout, packed for an instruction set.
pub(super) struct Layers<'a> {
    pairs: ChunksExact<'a, NamedTensor>,
    instructions: Instructions,
}

impl<'a> Layers<'a> {
    /// The layers of weights that have been checked.
    pub(super) fn new(weights: &'a Weights, instructions: Instructions) -> Layers<'a> {
        Layers { pairs: weights.tensors().chunks_exact(2), instructions }
    }

    /// The next layer, a dense one.
    pub(super) fn dense(&mut self) -> Layer {
        self.around(1)
    }

    /// The next layer, with this number of taps.
    pub(super) fn around(&mut self, taps: usize) -> Layer {
        let pair = self.pairs.next().expect("the layout has been checked");
        let mut layer = Layer::new(&pair[0].data, &pair[1].data, taps);
        layer.set_instructions(self.instructions);
        layer
    }
}

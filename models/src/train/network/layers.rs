//! An iterator over a network's layers in the order of their use.

use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

/// The layers in the order of the layout, which is the order of their use.
pub(super) struct Layers<'a> {
    rest: std::slice::Iter<'a, Linear>,
}

impl<'a> Layers<'a> {
    pub(super) fn new(layers: &'a [Linear]) -> Layers<'a> {
        Layers { rest: layers.iter() }
    }

    /// The next layer.
    pub(super) fn take(&mut self) -> &'a Linear {
        self.rest.next().expect("the layout has been checked")
    }

    /// `x W + b` with the next layer.
    pub(super) fn plain(&mut self, x: Tensor<2>) -> Tensor<2> {
        self.take().forward(x)
    }

    /// `relu(x W + b)` with the next layer.
    pub(super) fn rectified(&mut self, x: Tensor<2>) -> Tensor<2> {
        relu(self.plain(x))
    }
}

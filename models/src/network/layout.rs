//! The list of a network's layers as it is written down, and the walk through it as the layers are used.

use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use crate::weights::TensorSpec;

/// The parameters of a network in their one order, layer by layer: a matrix, then its bias.
#[derive(Default)]
pub(super) struct Layout {
    tensors: Vec<TensorSpec>,
}

impl Layout {
    /// Adds a layer whose weights start with this deviation.
    pub(super) fn linear(&mut self, name: &str, inputs: usize, outputs: usize, deviation: f64) {
        let tensor = |part: &str, shape, deviation| TensorSpec { name: format!("{name}.{part}"), shape, deviation };
        self.tensors.push(tensor("weight", vec![inputs, outputs], deviation));
        self.tensors.push(tensor("bias", vec![outputs], 0.0));
    }

    pub(super) fn into_tensors(self) -> Vec<TensorSpec> {
        self.tensors
    }
}

/// He's deviation, for a layer before a ReLU.
pub(super) fn he(inputs: usize) -> f64 {
    (2.0 / inputs as f64).sqrt()
}

/// The deviation of the last layers: nearly uniform priors and outcomes.
pub(super) fn head(inputs: usize) -> f64 {
    0.1 / (inputs as f64).sqrt()
}

/// The deviation of a layer that is added to the residual stream, one of `additions` over the whole tower: scaled down
/// so that the variance grows by a bounded factor however deep the tower is.
pub(super) fn residual(inputs: usize, additions: usize) -> f64 {
    he(inputs) / (additions as f64).sqrt()
}

/// The layers in the order of the layout, which is the order in which they are used.
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

    /// `x W + b` with the layer after those that every network has, if there is one.
    pub(super) fn auxiliary(mut self, x: Tensor<2>) -> Option<Tensor<2>> {
        self.rest.next().map(|layer| layer.forward(x))
    }

    /// `relu(x W + b)` with the next layer.
    pub(super) fn rectified(&mut self, x: Tensor<2>) -> Tensor<2> {
        relu(self.plain(x))
    }
}

//! Forward pass of the residual MLP.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::layers::Layers;
use super::output::Output;

/// Evaluates observations `[batch, inputs]`.
pub(super) fn forward(mut layers: Layers<'_>, blocks: usize, inputs: Tensor<2>) -> Output {
    let mut x = layers.rectified(inputs);
    for _ in 0..blocks {
        let inner = layers.rectified(x.clone());
        x = relu(x + layers.plain(inner));
    }
    let policy = layers.plain(x.clone());
    let hidden = layers.rectified(x);
    let value = layers.plain(hidden);
    Output { policy, value }
}

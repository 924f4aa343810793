//! Forward pass of the MLP-Mixer over points.

use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::layers::Layers;
use super::output::Output;
use super::points::{features, heads};
use crate::shape::Shape;

/// Evaluates observations `[batch, inputs]`.
pub(super) fn forward(mut layers: Layers<'_>, blocks: usize, shape: &Shape, inputs: Tensor<2>) -> Output {
    let (batch, points) = (inputs.dims()[0], shape.board.points);
    let mut x = layers.rectified(features(shape, inputs));
    let [rows, channels] = x.dims();
    for _ in 0..blocks {
        let by_position = x.clone().reshape([batch, points, channels]);
        let inner = relu(across_points(layers.take(), by_position));
        x = x + across_points(layers.take(), inner).reshape([rows, channels]);
        let inner = layers.rectified(x.clone());
        x = x + layers.plain(inner);
    }
    heads(layers, points, relu(x))
}

/// Applies a layer to the points of each channel: `[batch, points in, channels]` to `[batch, points out, channels]`.
fn across_points(layer: &Linear, x: Tensor<3>) -> Tensor<3> {
    let bias = layer.bias.as_ref().expect("every layer is built with a bias").val();
    let outputs = bias.dims()[0];
    layer.weight.val().transpose().unsqueeze::<3>().matmul(x) + bias.reshape([1, outputs, 1])
}

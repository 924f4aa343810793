//! Common parts of the networks over points: features per point, and the heads.

use burn::tensor::Tensor;

use super::layers::Layers;
use super::output::Output;
use crate::shape::{Board, Shape};

/// Turns observations `[batch, inputs]` into features per point, `[batch * points, features]`: the planes of the point,
/// then the scalars of the whole board.
pub(super) fn features(shape: &Shape, inputs: Tensor<2>) -> Tensor<2> {
    let Board { point_planes, points, .. } = shape.board;
    let ([batch, _], scalars) = (inputs.dims(), shape.scalars());
    let own = inputs.clone().narrow(1, 0, point_planes * points);
    let own = own.reshape([batch, point_planes, points]).swap_dims(1, 2);
    let features = if scalars == 0 {
        own
    } else {
        let common = inputs.narrow(1, point_planes * points, scalars).reshape([batch, 1, scalars]);
        Tensor::cat(vec![own, common.expand([batch, points, scalars])], 2)
    };
    features.reshape([batch * points, point_planes + scalars])
}

/// Computes policy and value from the channels of all points, `[batch * points, channels]`.
pub(super) fn heads(mut layers: Layers<'_>, points: usize, x: Tensor<2>) -> Output {
    let together = |x: Tensor<2>| {
        let [rows, channels] = x.dims();
        x.reshape([rows / points, points * channels])
    };
    let policy = together(layers.rectified(x.clone()));
    let policy = layers.plain(policy);
    let features = together(layers.rectified(x));
    let hidden = layers.rectified(features);
    let value = layers.plain(hidden);
    Output { policy, value }
}

//! What the networks over points share: observations read point by point, and the heads.

use burn::tensor::Tensor;

use super::layout::{Layers, Layout, he, head};
use super::{OUTCOMES, Output};
use crate::shape::{Board, Shape};

/// What a head reads of each point.
pub(crate) const HEAD_CHANNELS: usize = 8;
/// Units of the value head.
pub(crate) const VALUE_HIDDEN: usize = 64;

/// Reads observations `[batch, inputs]` as what every point is told, `[batch * points, features]`: its own numbers,
/// then those of the whole board.
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

/// Adds the layers of the heads: a few features of each point, and dense layers on those of all points together.
pub(super) fn layout_heads(layout: &mut Layout, shape: &Shape, channels: usize) {
    let all = features_of_a_head(shape);
    layout.linear("policy_points", channels, HEAD_CHANNELS, he(channels));
    layout.linear("policy", all, shape.actions, head(all));
    layout.linear("value_points", channels, HEAD_CHANNELS, he(channels));
    layout.linear("value_hidden", all, VALUE_HIDDEN, he(all));
    layout.linear("value", VALUE_HIDDEN, OUTCOMES, head(VALUE_HIDDEN));
}

/// How many numbers a head reads of all points together.
pub(super) fn features_of_a_head(shape: &Shape) -> usize {
    shape.board.points * HEAD_CHANNELS
}

/// Reads policy and value off the features of all points, `[batch * points, channels]`.
pub(super) fn heads(mut layers: Layers<'_>, points: usize, x: Tensor<2>) -> Output {
    let together = |x: Tensor<2>| {
        let [rows, channels] = x.dims();
        x.reshape([rows / points, points * channels])
    };
    let policy = together(layers.rectified(x.clone()));
    let policy = layers.plain(policy);
    let features = together(layers.rectified(x));
    let hidden = layers.rectified(features.clone());
    let value = layers.plain(hidden);
    Output { policy, value, auxiliary: layers.auxiliary(features) }
}

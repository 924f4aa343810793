//! The residual MLP: it takes an observation as a vector and knows nothing of the board.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::layout::{Layers, Layout, he, head, residual};
use super::{OUTCOMES, Output};
use crate::shape::Shape;

pub(super) fn layout(shape: &Shape, blocks: usize, width: usize) -> Layout {
    let value_width = value_width(width);
    let mut layout = Layout::default();
    layout.linear("stem", shape.inputs, width, he(shape.inputs));
    for block in 0..blocks {
        layout.linear(&format!("blocks.{block}.first"), width, width, he(width));
        layout.linear(&format!("blocks.{block}.second"), width, width, residual(width, 2 * blocks));
    }
    layout.linear("policy", width, shape.actions, head(width));
    layout.linear("value_hidden", width, value_width, he(width));
    layout.linear("value", value_width, OUTCOMES, head(value_width));
    layout
}

fn value_width(width: usize) -> usize {
    (width / 2).max(16)
}

/// Evaluates observations `[batch, inputs]`.
pub(super) fn forward(mut layers: Layers<'_>, blocks: usize, inputs: Tensor<2>) -> Output {
    let mut x = layers.rectified(inputs);
    for _ in 0..blocks {
        let inner = layers.rectified(x.clone());
        x = relu(x + layers.plain(inner));
    }
    let policy = layers.plain(x.clone());
    let hidden = layers.rectified(x.clone());
    let value = layers.plain(hidden);
    Output { policy, value, auxiliary: layers.auxiliary(x) }
}

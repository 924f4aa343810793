//! Forward pass of the residual graph network: a convolution over neighbours as a gather and a matrix product.
//!
//! One `select` of rows gathers the neighbours of all points of a batch. It was the fastest to train of the formulations
//! that burn allows (forwards and backwards, 64 points, 48 channels, 5 taps, 256 positions: 35 ms; product with the
//! adjacency matrix 55, sum of products over taps 51, burn's 3x3 convolution 52).

use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, Tensor, TensorData};

use super::layers::Layers;
use super::output::Output;
use super::points::{features, heads};
use crate::shape::{Shape, Taps};

/// Evaluates observations `[batch, inputs]`.
pub(super) fn forward(mut layers: Layers<'_>, blocks: usize, taps: &Taps, shape: &Shape, inputs: Tensor<2>) -> Output {
    let points = shape.board.points;
    let rows = gathered_rows(taps, inputs.dims()[0], points, &inputs.device());
    let mut x = layers.rectified(features(shape, inputs));
    for _ in 0..blocks {
        let inner = layers.rectified(gather(x.clone(), &rows, taps.count));
        x = relu(x + layers.plain(inner));
    }
    heads(layers, points, x)
}

/// The row that each tap of each point of each position reads; beyond the end of a line the row of zeros after the last.
pub(super) fn gathered_rows(taps: &Taps, batch: usize, points: usize, device: &Device) -> Tensor<1, Int> {
    let row = |position: usize, tap: &Option<u16>| match tap {
        Some(point) => (position * points + usize::from(*point)) as i64,
        None => (batch * points) as i64,
    };
    let rows: Vec<i64> = (0..batch).flat_map(|position| taps.table.iter().map(move |tap| row(position, tap))).collect();
    let count = rows.len();
    Tensor::from_data(TensorData::new(rows, [count]), device)
}

/// Concatenates the channels of each point's taps: `[batch * points, channels]` to `[batch * points, taps * channels]`, with
/// zeros beyond the end of a line.
pub(super) fn gather(x: Tensor<2>, rows: &Tensor<1, Int>, taps: usize) -> Tensor<2> {
    let [count, channels] = x.dims();
    let zeros = x.clone().narrow(0, 0, 1).zeros_like();
    Tensor::cat(vec![x, zeros], 0).select(0, rows.clone()).reshape([count, taps * channels])
}

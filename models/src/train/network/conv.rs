//! Forward pass of the network of convolutions.
//!
//! On a board that fills its lattice, in reading order, the convolutions are burn's, which are fast on GPUs; on others a
//! gather and a product, as in the graph network.

use burn::nn::Linear;
use burn::tensor::activation::{relu, sigmoid};
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Int, Tensor};

use super::graph::{gather, gathered_rows};
use super::layers::Layers;
use super::output::Output;
use super::points::{features, heads};
use crate::config::OverBoard;
use crate::shape::{Board, Shape, Taps};

/// Evaluates observations `[batch, inputs]`.
pub(super) fn forward(
    mut layers: Layers<'_>,
    (blocks, over_board): (usize, OverBoard),
    taps: &Taps,
    shape: &Shape,
    inputs: Tensor<2>,
) -> Output {
    let (batch, points) = (inputs.dims()[0], shape.board.points);
    let convolution = Convolution::new(taps, &shape.board, &inputs);
    let mut x = relu(convolution.apply(layers.take(), features(shape, inputs)));
    let [rows, channels] = x.dims();
    let by_position = |x: Tensor<2>| x.reshape([batch, points, channels]);
    for _ in 0..blocks {
        let inner = relu(convolution.apply(layers.take(), x.clone()));
        let mut change = convolution.apply(layers.take(), inner.clone());
        if over_board.pools {
            let inner = by_position(inner);
            let pooled = Tensor::cat(vec![inner.clone().mean_dim(1), inner.max_dim(1)], 2);
            let everywhere = layers.plain(pooled.reshape([batch, 2 * channels])).reshape([batch, 1, channels]);
            change = (by_position(change) + everywhere).reshape([rows, channels]);
        }
        if over_board.excites {
            let means = by_position(change.clone()).mean_dim(1).reshape([batch, channels]);
            let squeezed = layers.rectified(means);
            let gates = sigmoid(layers.plain(squeezed)).reshape([batch, 1, channels]);
            change = (by_position(change) * gates).reshape([rows, channels]);
        }
        x = relu(x + change);
    }
    heads(layers, points, x)
}

/// How a layer over the 3x3 cells around each point is computed.
enum Convolution {
    /// The points fill a lattice of this height and width.
    Lattice { batch: usize, height: usize, width: usize },
    /// The rows that each tap of each point of each position reads.
    Gather { rows: Box<Tensor<1, Int>>, taps: usize },
}

impl Convolution {
    fn new(taps: &Taps, board: &Board, inputs: &Tensor<2>) -> Convolution {
        let (batch, [height, width]) = (inputs.dims()[0], board.lattice);
        let fills = board.points == height * width && board.cells.iter().enumerate().all(|(i, &c)| i == usize::from(c));
        if fills {
            return Convolution::Lattice { batch, height, width };
        }
        let rows = Box::new(gathered_rows(taps, batch, board.points, &inputs.device()));
        Convolution::Gather { rows, taps: taps.count }
    }

    /// `[batch * points, in]` to `[batch * points, out]`.
    fn apply(&self, layer: &Linear, x: Tensor<2>) -> Tensor<2> {
        match self {
            Convolution::Gather { rows, taps } => layer.forward(gather(x, rows, *taps)),
            &Convolution::Lattice { batch, height, width } => {
                let [rows, inputs] = x.dims();
                let x = x.reshape([batch, height, width, inputs]).permute([0, 3, 1, 2]);
                let bias = layer.bias.as_ref().expect("every layer is built with a bias").val();
                let outputs = bias.dims()[0];
                let options = ConvOptions::new([1; 2], [1; 2], [1; 2], 1);
                let y = conv2d(x, kernel(&layer.weight.val(), inputs, outputs), Some(bias), options);
                y.permute([0, 2, 3, 1]).reshape([rows, outputs])
            }
        }
    }
}

/// The kernel `[out, in, 3, 3]` of a matrix `[taps * in, out]`, whose first tap is the point itself.
fn kernel(matrix: &Tensor<2>, inputs: usize, outputs: usize) -> Tensor<4> {
    let part = |first: usize, taps: usize| matrix.clone().narrow(0, first * inputs, taps * inputs);
    let in_reading_order = Tensor::cat(vec![part(1, 4), part(0, 1), part(5, 4)], 0);
    in_reading_order.reshape([3, 3, inputs, outputs]).permute([3, 2, 0, 1])
}

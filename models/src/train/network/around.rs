//! Linear layers over neighbours, composed of burn's own operations: a gather and a product, or a convolution where the board
//! fills its lattice, which is faster on GPUs.
//!
//! One `select` of rows gathers the neighbours of all points of a batch. It was the fastest to train of the formulations
//! that burn allows (forwards and backwards, 64 points, 48 channels, 5 taps, 256 positions: 35 ms; product with the
//! adjacency matrix 55, sum of products over taps 51, burn's 3x3 convolution 52).

use burn::tensor::module::{conv2d, linear};
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Int, Tensor, TensorData};

use crate::network::Network;
use crate::shape::{BoardShape, Neighbourhood, Taps};

/// How the layers over a table of neighbours are computed, for a batch of some size.
pub(super) enum AroundPoints {
    /// The 3x3 cells around each point of a board that fills a lattice of this height and width, in reading order.
    Lattice { batch: usize, height: usize, width: usize },
    /// The rows that each tap of each point of each position reads.
    Gather { rows: Box<Tensor<1, Int>>, taps: usize },
}

impl AroundPoints {
    /// For all tables of a network, on the device of the inputs.
    pub(super) fn of(network: &Network, inputs: &Tensor<2>) -> Vec<AroundPoints> {
        network.tables.iter().map(|taps| AroundPoints::new(taps, &network.shape.board, inputs)).collect()
    }

    fn new(taps: &Taps, board: &BoardShape, inputs: &Tensor<2>) -> AroundPoints {
        let (batch, [height, width]) = (inputs.dims()[0], board.lattice);
        let mut cells = board.cells.iter().map(|&cell| usize::from(cell));
        let fills = board.points == height * width && cells.by_ref().eq(0..board.points);
        if fills && *taps == board.taps(Neighbourhood::Square, 1) {
            return AroundPoints::Lattice { batch, height, width };
        }
        // Beyond the end of a line, the row of zeros after the last is read.
        let (points, count) = (board.points, batch * taps.table.len());
        let row = |position: usize, tap: Option<u16>| match tap {
            Some(point) => (position * points + usize::from(point)) as i64,
            None => (batch * points) as i64,
        };
        let rows = (0..batch).flat_map(|position| taps.table.iter().map(move |&tap| row(position, tap)));
        let rows = TensorData::new(rows.collect::<Vec<i64>>(), [count]);
        AroundPoints::Gather { rows: Box::new(Tensor::from_data(rows, &inputs.device())), taps: taps.count }
    }

    /// `[batch * points, in]` to `[batch * points, out]`.
    pub(super) fn apply(&self, x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
        let ([count, inputs], [outputs]) = (x.dims(), bias.dims());
        match self {
            AroundPoints::Gather { rows, taps } => {
                let zeros = x.clone().narrow(0, 0, 1).zeros_like();
                let gathered = Tensor::cat(vec![x, zeros], 0).select(0, *rows.clone());
                linear(gathered.reshape([count, taps * inputs]), weight, Some(bias))
            }
            &AroundPoints::Lattice { batch, height, width } => {
                let x = x.reshape([batch, height, width, inputs]).permute([0, 3, 1, 2]);
                let options = ConvOptions::new([1; 2], [1; 2], [1; 2], 1);
                let y = conv2d(x, kernel(&weight, inputs, outputs), Some(bias), options);
                y.permute([0, 2, 3, 1]).reshape([count, outputs])
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

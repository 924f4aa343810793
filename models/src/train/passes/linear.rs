//! A linear layer in training: its product forwards, and the two products backwards.

use std::sync::{Arc, LazyLock};

use super::sparse::SparseLinear;
use crate::inference::{Finish, Instructions, Layer, Neighbours};
use crate::shape::Taps;
use crate::weights::{NamedTensor, Weights};

/// The points that a layer reads for each point, and the points that read each point.
#[derive(Debug)]
pub(super) struct Around {
    forwards: Neighbours,
    backwards: Neighbours,
    /// The tap that each tap of the second table stands for.
    backward_taps: Vec<usize>,
}

impl Around {
    pub(super) fn new(taps: &Taps, points: usize) -> Around {
        Around::of(Neighbours::of_taps(taps, points))
    }

    fn of(forwards: Neighbours) -> Around {
        let (backwards, backward_taps) = forwards.reversed();
        Around { forwards, backwards, backward_taps }
    }
}

/// The table of a dense layer.
static ROWS: LazyLock<Arc<Around>> = LazyLock::new(|| Arc::new(Around::of(Neighbours::none())));

/// A linear layer, packed for a step. A *board* is the points of its table, one row for a dense layer.
#[derive(Debug)]
pub(super) struct Linear {
    around: Arc<Around>,
    forwards: Layer,
    /// From the gradients of the outputs to those of the inputs.
    backwards: Layer,
    /// Index of the matrix among the network's tensors; the bias is the next one.
    matrix: usize,
}

impl Linear {
    /// Computes `y [boards, points, out]` from `x [boards, points, in]`.
    pub(super) fn apply(&self, boards: usize, x: &[f32], y: &mut [f32], finish: Finish) {
        self.forwards.apply_around(boards, &self.around.forwards, x, y, finish);
    }

    /// Adds the gradients of matrix and bias, given the inputs `x` and the gradients `dy` of the outputs.
    pub(super) fn add_gradients(&self, boards: usize, x: &[f32], dy: &[f32], gradients: &mut Weights) {
        let [matrix, bias] = &mut gradients.tensors_mut()[self.matrix..][..2] else {
            unreachable!("a matrix and a bias")
        };
        self.forwards.add_weight_gradient(boards, &self.around.forwards, x, dy, &mut matrix.data);
        add_columns(dy, &mut bias.data);
    }

    /// Computes the gradients `dx` of the inputs from those of the outputs.
    pub(super) fn apply_backwards(&self, boards: usize, dy: &[f32], dx: &mut [f32], finish: Finish) {
        self.backwards.apply_around(boards, &self.around.backwards, dy, dx, finish);
    }

    pub(super) fn outputs(&self) -> usize {
        self.forwards.outputs()
    }
}

/// Adds each column of `x [rows, columns]` to the column's sum, a few columns at a time so that their sums stay in registers.
fn add_columns(x: &[f32], sums: &mut [f32]) {
    const LANES: usize = 16;
    let columns = sums.len();
    let (blocks, rest) = sums.as_chunks_mut::<LANES>();
    for (block, sums) in blocks.iter_mut().enumerate() {
        let mut near = *sums;
        for row in x.chunks_exact(columns) {
            let row = row[block * LANES..].first_chunk::<LANES>().expect("a whole block");
            for lane in 0..LANES {
                near[lane] += row[lane];
            }
        }
        *sums = near;
    }
    let first = columns - rest.len();
    for row in x.chunks_exact(columns) {
        rest.iter_mut().zip(&row[first..]).for_each(|(sum, x)| *sum += x);
    }
}

/// Zeroes the gradients of what a ReLU with these `outputs` has cut off.
pub(super) fn through_relu(outputs: &[f32], gradients: &mut [f32]) {
    gradients.iter_mut().zip(outputs).for_each(|(gradient, &y)| *gradient = if y > 0.0 { *gradient } else { 0.0 });
}

/// The layers of a network in the order of its layout, which is the order of their use.
pub(super) struct Linears<'a> {
    tensors: &'a [NamedTensor],
    next: usize,
    instructions: Instructions,
}

impl<'a> Linears<'a> {
    /// The layers of weights that have been checked.
    pub(super) fn new(weights: &'a Weights, instructions: Instructions) -> Linears<'a> {
        Linears { tensors: weights.tensors(), next: 0, instructions }
    }

    /// The next layer, a dense one.
    pub(super) fn dense(&mut self) -> Linear {
        self.around(&ROWS)
    }

    /// The next layer, over neighbours.
    pub(super) fn around(&mut self, around: &Arc<Around>) -> Linear {
        let matrix = self.next;
        let [weight, bias] = &self.tensors[matrix..][..2] else { unreachable!("a matrix and a bias") };
        self.next += 2;
        let taps = around.forwards.taps();
        let mut forwards = Layer::new(&weight.data, &bias.data, taps);
        let mut backwards = Layer::transposed(&weight.data, bias.data.len(), taps, &around.backward_taps);
        forwards.set_instructions(self.instructions);
        backwards.set_instructions(self.instructions);
        Linear { around: around.clone(), forwards, backwards, matrix }
    }

    /// The next layer, by output.
    pub(super) fn sparse(&mut self) -> SparseLinear {
        let matrix = self.next;
        self.next += 2;
        SparseLinear::new(&self.tensors[matrix], &self.tensors[matrix + 1], matrix)
    }
}

//! A linear layer, packed for the kernel: over rows, or over the neighbourhoods of a board's points.

use std::sync::LazyLock;

use super::kernel::{Finish, Instructions, LANES, Lanes, Product, multiply};
use super::neighbours::Neighbours;

/// Sums of weighted inputs: a dense layer with one tap, a convolution or its like on any board with several.
#[derive(Debug, Clone)]
pub struct Layer {
    taps: usize,
    inputs: usize,
    outputs: usize,
    /// `[strips, taps, inputs]`.
    weight: Vec<Lanes>,
    /// `[strips]`.
    bias: Vec<Lanes>,
    instructions: Instructions,
}

/// How a dense layer sees its rows.
static ROWS: LazyLock<Neighbours> = LazyLock::new(Neighbours::none);

impl Layer {
    /// Packs a `weight [taps, in, out]`, row-major, and its `bias [out]`.
    ///
    /// # Panics
    /// If there are no taps, inputs or outputs, or the weights are not a whole number of inputs for each.
    pub fn new(weight: &[f32], bias: &[f32], taps: usize) -> Layer {
        let outputs = bias.len();
        assert!(taps > 0 && outputs > 0 && !weight.is_empty(), "a layer has taps, inputs and outputs");
        let inputs = weight.len() / (taps * outputs);
        assert_eq!(weight.len(), taps * inputs * outputs, "weights for {taps} taps and {outputs} outputs");
        let strip = |row: &[f32], strip: usize| {
            let mut lanes = Lanes([0.0; LANES]);
            let some = &row[strip * LANES..outputs.min((strip + 1) * LANES)];
            lanes.0[..some.len()].copy_from_slice(some);
            lanes
        };
        let strips = 0..outputs.div_ceil(LANES);
        Layer {
            taps,
            inputs,
            outputs,
            weight: strips.clone().flat_map(|s| weight.chunks_exact(outputs).map(move |row| strip(row, s))).collect(),
            bias: strips.map(|s| strip(bias, s)).collect(),
            instructions: Instructions::best(),
        }
    }

    /// Goes on with other instructions than the best that the processor has.
    ///
    /// # Panics
    /// If the processor does not have them.
    pub fn set_instructions(&mut self, instructions: Instructions) {
        assert!(instructions.is_available(), "this processor has no {instructions:?}");
        self.instructions = instructions;
    }

    /// Turns the rows of `x [rows, in]` into those of `y [rows, out]`.
    ///
    /// # Panics
    /// If the layer has several taps, or `x` or `y` has another length.
    pub fn apply(&self, rows: usize, x: &[f32], y: &mut [f32], finish: Finish) {
        self.apply_around(rows, &ROWS, x, y, finish);
    }

    /// Turns `x [boards, points, in]` into `y [boards, points, out]`: each point's outputs are the sum over the taps
    /// of its neighbours' inputs times the tap's weights. A neighbour that is not there adds nothing.
    ///
    /// # Panics
    /// If `neighbours` has another number of taps, or `x` or `y` has another length.
    pub fn apply_around(&self, boards: usize, neighbours: &Neighbours, x: &[f32], y: &mut [f32], finish: Finish) {
        assert_eq!(neighbours.taps(), self.taps, "taps of the table and of the layer");
        let product = Product {
            x,
            weight: &self.weight,
            bias: &self.bias,
            inputs: self.inputs,
            outputs: self.outputs,
            neighbours,
            finish,
        };
        multiply(self.instructions, &product, boards, y);
    }

    /// Numbers that it reads of a row.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers that it writes of a row.
    pub fn outputs(&self) -> usize {
        self.outputs
    }
}

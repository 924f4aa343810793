//! A linear layer, packed for the kernels: over rows, or over the neighbours of each point of a board.

use std::sync::LazyLock;

use super::areas::LANES;
use super::kernel::{Finish, Instructions, Lanes, Product, multiply};
use super::neighbours::Neighbours;

/// A linear layer: dense with one tap, a convolution over the neighbours of each point with several.
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

/// The table of a dense layer.
static ROWS: LazyLock<Neighbours> = LazyLock::new(Neighbours::none);

impl Layer {
    /// Packs a `weight [taps, in, out]`, row-major, and its `bias [out]`.
    ///
    /// # Panics
    /// If there are no taps, inputs or outputs, or the length of `weight` is not a multiple of taps times outputs.
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

    /// Sets the instruction set; the default is the best one of the processor.
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    pub fn set_instructions(&mut self, instructions: Instructions) {
        assert!(instructions.is_available(), "this processor has no {instructions:?}");
        self.instructions = instructions;
    }

    /// Computes `y [rows, out]` from `x [rows, in]`.
    ///
    /// # Panics
    /// If the layer has several taps, or the length of `x` or `y` is wrong.
    pub fn apply(&self, rows: usize, x: &[f32], y: &mut [f32], finish: Finish) {
        self.apply_around(rows, &ROWS, x, y, finish);
    }

    /// Computes `y [boards, points, out]` from `x [boards, points, in]`: the outputs of a point are the sum over the taps of
    /// its neighbours' inputs times the weights of the tap. Missing neighbours add nothing.
    ///
    /// # Panics
    /// If `neighbours` has another number of taps, or the length of `x` or `y` is wrong.
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

    /// Number of inputs per row.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs per row.
    pub fn outputs(&self) -> usize {
        self.outputs
    }
}

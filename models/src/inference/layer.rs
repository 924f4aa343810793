//! A linear layer, packed for the kernels: over rows, or over the neighbours of each point of a board.

use super::areas::LANES;
use super::kernel::{Finish, Instructions, Lanes, OuterProducts, Product, add_outer_products, multiply};
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
        let mut packed = Vec::with_capacity(strips.len() * taps * inputs);
        for s in strips.clone() {
            packed.extend(weight.chunks_exact(outputs).map(|row| strip(row, s)));
        }
        Layer {
            taps,
            inputs,
            outputs,
            weight: packed,
            bias: strips.map(|s| strip(bias, s)).collect(),
            instructions: Instructions::best(),
        }
    }

    /// Packs the layer that computes the gradients of the inputs of [`Layer::new`]'s from those of its outputs, over the
    /// [reversed](Neighbours::reversed) table: the transposed weights of each of `taps`, and no bias.
    ///
    /// # Panics
    /// If the length of `weight` is not a multiple of `outputs`, or a tap is not among `all_taps`.
    pub fn transposed(weight: &[f32], outputs: usize, all_taps: usize, taps: &[usize]) -> Layer {
        let inputs = weight.len() / (all_taps * outputs);
        let mut transposed = Vec::with_capacity(taps.len() * inputs * outputs);
        for &tap in taps {
            let matrix = &weight[tap * inputs * outputs..][..inputs * outputs];
            for output in 0..outputs {
                transposed.extend(matrix.chunks_exact(outputs).map(|row| row[output]));
            }
        }
        Layer::new(&transposed, &vec![0.0; inputs], taps.len())
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
        self.apply_around(rows, Neighbours::rows(), x, y, finish);
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

    /// Adds the gradient of the weights, `[taps, in, out]`, given the inputs `x [boards, points, in]` and the gradients of
    /// the outputs `dy [boards, points, out]`.
    ///
    /// # Panics
    /// If `neighbours` has another number of taps, or the length of a slice is wrong.
    pub fn add_weight_gradient(&self, boards: usize, neighbours: &Neighbours, x: &[f32], dy: &[f32], dw: &mut [f32]) {
        assert_eq!(neighbours.taps(), self.taps, "taps of the table and of the layer");
        let size = self.inputs * self.outputs;
        assert_eq!(dw.len(), self.taps * size, "the gradient of {} numbers", self.taps * size);
        for (tap, dw) in dw.chunks_exact_mut(size).enumerate() {
            let products = OuterProducts {
                x,
                dy,
                inputs: self.inputs,
                outputs: self.outputs,
                points: neighbours.points(),
                pairs: neighbours.pairs(tap),
            };
            add_outer_products(self.instructions, &products, boards, dw);
        }
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

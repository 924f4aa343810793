//! The last layer of a policy head where few actions are legal: logits and gradients of the legal ones only.
//!
//! Illegal actions have neither probability nor gradient. Of Konane's 448 actions a dozen are legal, and a sixth of the
//! work of all layers is in those that are not.

use crate::weights::{NamedTensor, Weights};

/// A dense layer by output.
#[derive(Debug)]
pub(super) struct SparseLinear {
    /// `[out, in]`.
    weight: Vec<f32>,
    bias: Vec<f32>,
    /// Index of the matrix among the network's tensors; the bias is the next one.
    matrix: usize,
}

/// Some outputs of each of several rows.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Outputs in ascending order, row by row.
    chosen: Vec<usize>,
    /// The end of each row in `chosen`.
    ends: Vec<usize>,
}

impl Selection {
    /// Selects the outputs that are marked in `marks [rows, out]`.
    pub(super) fn mark(&mut self, marks: &[bool], outputs: usize) {
        self.chosen.clear();
        self.ends.clear();
        for row in marks.chunks_exact(outputs) {
            self.chosen.extend((0..outputs).filter(|&output| row[output]));
            self.ends.push(self.chosen.len());
        }
    }

    /// The selected outputs of each row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[usize]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.chosen[start..end])
    }
}

impl SparseLinear {
    /// Transposes `weight [in, out]`.
    pub(super) fn new(weight: &NamedTensor, bias: &NamedTensor, matrix: usize) -> SparseLinear {
        let mut transposed = vec![0.0; weight.data.len()];
        transpose(&weight.data, bias.data.len(), &mut transposed);
        SparseLinear { weight: transposed, bias: bias.data.clone(), matrix }
    }

    /// Computes the selected outputs in `y [rows, out]` from `x [rows, in]`, and leaves the others.
    pub(super) fn apply(&self, selection: &Selection, x: &[f32], y: &mut [f32]) {
        let inputs = self.inputs();
        let rows = x.chunks_exact(inputs).zip(y.chunks_exact_mut(self.bias.len()));
        for ((x, y), chosen) in rows.zip(selection.rows()) {
            for &output in chosen {
                y[output] = self.bias[output] + dot(x, &self.weight[output * inputs..][..inputs]);
            }
        }
    }

    /// Adds the gradients of the bias and of the transposed matrix, `[out, in]`, and computes those of the inputs, given
    /// the gradients `dy` of the selected outputs.
    pub(super) fn apply_backwards(
        &self,
        selection: &Selection,
        x: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        gradients: &mut Weights,
    ) {
        let inputs = self.inputs();
        let [matrix, bias] = &mut gradients.tensors_mut()[self.matrix..][..2] else {
            unreachable!("a matrix and a bias")
        };
        let rows = x.chunks_exact(inputs).zip(dx.chunks_exact_mut(inputs)).zip(dy.chunks_exact(self.bias.len()));
        for (((x, dx), dy), chosen) in rows.zip(selection.rows()) {
            dx.fill(0.0);
            for &output in chosen {
                let place = output * inputs;
                bias.data[output] += dy[output];
                add_multiple(&mut matrix.data[place..][..inputs], dy[output], x);
                add_multiple(dx, dy[output], &self.weight[place..][..inputs]);
            }
        }
    }

    /// Transposes the gradient of the matrix to the order of the network's tensors.
    pub(super) fn finish(&self, gradients: &mut Weights) {
        let matrix = &mut gradients.tensors_mut()[self.matrix].data;
        let by_output = matrix.clone();
        transpose(&by_output, self.inputs(), matrix);
    }

    fn inputs(&self) -> usize {
        self.weight.len() / self.bias.len()
    }
}

/// Transposes `x [rows, columns]` into `y [columns, rows]`.
fn transpose(x: &[f32], columns: usize, y: &mut [f32]) {
    let rows = x.len() / columns;
    for (column, y) in y.chunks_exact_mut(rows).enumerate() {
        y.iter_mut().zip(x.chunks_exact(columns)).for_each(|(y, row)| *y = row[column]);
    }
}

/// A sum in a fixed order, by lanes.
fn dot(x: &[f32], y: &[f32]) -> f32 {
    const LANES: usize = 16;
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (x, y) in x.iter().zip(y) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

/// `y = y + factor x`.
fn add_multiple(y: &mut [f32], factor: f32, x: &[f32]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}

//! The last layer of a policy head where few actions are legal: logits and gradients of the legal ones only.
//!
//! Illegal actions have neither probability nor gradient. Of Konane's 448 actions a dozen are legal, and a sixth of the
//! work of all layers is in those that are not.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Flex};

use super::workspace::{Numbers, Workspace, contiguous, numbers};
use crate::inference::transpose;
use crate::train::loss::ILLEGAL_LOGIT;
use crate::weights::Weights;

/// A dense layer by output.
#[derive(Debug)]
pub(crate) struct SparseLinear {
    /// `[out, in]`.
    weight: Vec<f32>,
    bias: Vec<f32>,
    /// Index of the matrix among the network's tensors; the bias is the next one.
    matrix: usize,
}

/// Some outputs of each of several rows.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Outputs in ascending order, row by row.
    chosen: Vec<usize>,
    /// The end of each row in `chosen`.
    ends: Vec<usize>,
}

impl Selection {
    /// Selects the outputs that are marked in `marks [rows, out]`.
    pub(crate) fn of(marks: &[bool], outputs: usize) -> Selection {
        let mut selection = Selection::default();
        for row in marks.chunks_exact(outputs) {
            selection.chosen.extend((0..outputs).filter(|&output| row[output]));
            selection.ends.push(selection.chosen.len());
        }
        selection
    }

    /// The selected outputs of each row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[usize]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.chosen[start..end])
    }
}

impl SparseLinear {
    /// Transposes the layer whose matrix is the tensor of this index.
    pub(crate) fn new(weights: &Weights, matrix: usize) -> SparseLinear {
        let [weight, bias] = [matrix, matrix + 1].map(|index| &weights.tensors()[index].data);
        let mut transposed = vec![0.0; weight.len()];
        transpose(weight, bias.len(), &mut transposed);
        SparseLinear { weight: transposed, bias: bias.clone(), matrix }
    }

    /// Computes the selected outputs in `y [rows, out]` from `x [rows, in]`, and leaves the others.
    fn apply(&self, selection: &Selection, x: &[f32], y: &mut [f32]) {
        let inputs = self.inputs();
        let rows = x.chunks_exact(inputs).zip(y.chunks_exact_mut(self.bias.len()));
        for ((x, y), chosen) in rows.zip(selection.rows()) {
            for &output in chosen {
                y[output] = self.bias[output] + dot(x, &self.weight[output * inputs..][..inputs]);
            }
        }
    }

    /// Adds the gradients of the bias and of the transposed matrix, `[out, in]`, given the gradients `dy` of the selected
    /// outputs.
    fn add_gradients<'a>(
        &self,
        selected: impl Iterator<Item = &'a [usize]>,
        x: &[f32],
        dy: &[f32],
        gradients: &mut Weights,
    ) {
        let inputs = self.inputs();
        let [matrix, bias] = &mut gradients.tensors_mut()[self.matrix..][..2] else {
            unreachable!("a matrix and a bias")
        };
        let rows = x.chunks_exact(inputs).zip(dy.chunks_exact(self.bias.len()));
        for ((x, dy), chosen) in rows.zip(selected) {
            for &output in chosen {
                bias.data[output] += dy[output];
                add_multiple(&mut matrix.data[output * inputs..][..inputs], dy[output], x);
            }
        }
    }

    /// Computes the gradients of the inputs, given those of the selected outputs.
    fn apply_backwards(&self, selection: &Selection, dy: &[f32], dx: &mut [f32]) {
        let inputs = self.inputs();
        let rows = dx.chunks_exact_mut(inputs).zip(dy.chunks_exact(self.bias.len()));
        for ((dx, dy), chosen) in rows.zip(selection.rows()) {
            dx.fill(0.0);
            for &output in chosen {
                add_multiple(dx, dy[output], &self.weight[output * inputs..][..inputs]);
            }
        }
    }

    /// Transposes the gradient of the matrix to the order of the network's tensors.
    pub(crate) fn finish(&self, gradients: &mut Weights) {
        let matrix = &mut gradients.tensors_mut()[self.matrix].data;
        let by_output = matrix.clone();
        transpose(&by_output, self.inputs(), matrix);
    }

    fn inputs(&self) -> usize {
        self.weight.len() / self.bias.len()
    }
}

/// The layer, and the legal actions of each row.
#[derive(Debug, Clone)]
pub(crate) struct LegalCall {
    pub(crate) layer: Arc<SparseLinear>,
    pub(crate) legal: Arc<Selection>,
    pub(crate) workspace: Arc<Workspace>,
}

/// Computes the logits.
pub(super) fn forward(x: &Numbers, call: &LegalCall) -> Numbers {
    let x = numbers(x);
    call.workspace.tensor(x.len() / call.layer.inputs(), call.layer.bias.len(), |y| {
        y.fill(ILLEGAL_LOGIT);
        call.layer.apply(&call.legal, x, y);
    })
}

/// [`forward`], recorded with the nodes of the inputs and of the leaf.
pub(super) fn record<C: CheckpointStrategy>(
    nodes: [NodeGuard; 2],
    x: Numbers,
    call: LegalCall,
) -> FloatTensor<Autodiff<Flex, C>> {
    let x = contiguous(x);
    let y = forward(&x, &call);
    match Backwards.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => prepared.finish((x, call), y),
        OpsKind::UnTracked(prepared) => prepared.finish(y),
    }
}

#[derive(Debug)]
struct Backwards;

impl Backward<Flex, 2> for Backwards {
    type State = (Numbers, LegalCall);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (x, LegalCall { layer, legal, workspace }) = ops.state;
        let dy = contiguous(grads.consume::<Flex>(&ops.node));
        workspace.for_each_part(|sums, share| {
            let legal = legal.rows().skip(share.positions.start);
            layer.add_gradients(legal, share.of(numbers(&x)), share.of(numbers(&dy)), &mut sums.gradients);
        });
        // The second parent is the leaf that stands for the weights.
        if let [Some(of_x), _] = ops.parents {
            let rows = numbers(&x).len() / layer.inputs();
            let dx = workspace.tensor(rows, layer.inputs(), |dx| layer.apply_backwards(&legal, numbers(&dy), dx));
            grads.register::<Flex>(of_x.id, dx);
        }
        workspace.give_back(dy);
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

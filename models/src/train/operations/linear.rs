//! A linear layer in training: its product forwards, and the two products backwards.

use std::sync::{Arc, LazyLock};

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Flex};

use super::workspace::{Numbers, Workspace, contiguous, numbers, owned};
use crate::inference::{Finish, Layer, Neighbours};
use crate::shape::Taps;
use crate::weights::Weights;

/// The points that a layer reads for each point, and the points that read each point.
#[derive(Debug)]
pub(crate) struct Around {
    forwards: Neighbours,
    backwards: Neighbours,
    /// The tap that each tap of the second table stands for.
    backward_taps: Vec<usize>,
}

/// The table of a dense layer.
static ROWS: LazyLock<Arc<Around>> = LazyLock::new(|| Arc::new(Around::of(Neighbours::none())));

impl Around {
    pub(crate) fn new(taps: &Taps) -> Around {
        Around::of(Neighbours::of_taps(taps, taps.table.len() / taps.count))
    }

    /// The table of a dense layer: each row by itself.
    pub(crate) fn rows() -> Arc<Around> {
        ROWS.clone()
    }

    fn of(forwards: Neighbours) -> Around {
        let (backwards, backward_taps) = forwards.reversed();
        Around { forwards, backwards, backward_taps }
    }
}

/// A linear layer, packed for a step. A *board* is the points of its table, one row for a dense layer.
#[derive(Debug)]
pub(crate) struct Linear {
    around: Arc<Around>,
    forwards: Layer,
    /// From the gradients of the outputs to those of the inputs; `None` where these have none.
    backwards: Option<Layer>,
    /// Index of the matrix among the network's tensors; the bias is the next one.
    matrix: usize,
}

impl Linear {
    /// Packs the layer whose matrix is the tensor of this index. `first` says that it reads observations, which have no
    /// gradients.
    pub(crate) fn new(weights: &Weights, matrix: usize, around: &Arc<Around>, first: bool) -> Linear {
        let [weight, bias] = [matrix, matrix + 1].map(|index| &weights.tensors()[index].data);
        let taps = around.forwards.taps();
        let forwards = Layer::new(weight, bias, taps);
        let backwards = (!first).then(|| Layer::transposed(weight, bias.len(), taps, &around.backward_taps));
        Linear { around: around.clone(), forwards, backwards, matrix }
    }

    fn boards(&self, x: &[f32]) -> usize {
        x.len() / (self.forwards.inputs() * self.around.forwards.points())
    }

    /// Adds the gradients of matrix and bias, given the inputs `x` and the gradients `dy` of the outputs.
    fn add_gradients(&self, x: &[f32], dy: &[f32], gradients: &mut Weights) {
        let [matrix, bias] = &mut gradients.tensors_mut()[self.matrix..][..2] else {
            unreachable!("a matrix and a bias")
        };
        self.forwards.add_weight_gradient(self.boards(x), &self.around.forwards, x, dy, &mut matrix.data);
        add_columns(dy, &mut bias.data);
    }
}

/// A layer, and how it is used.
#[derive(Debug, Clone)]
pub(crate) struct LinearCall {
    pub(crate) layer: Arc<Linear>,
    pub(crate) relu: bool,
    pub(crate) workspace: Arc<Workspace>,
}

/// Computes the outputs, plus a residual.
pub(super) fn forward(x: &Numbers, residual: Option<&Numbers>, call: &LinearCall) -> Numbers {
    let (x, layer) = (numbers(x), &call.layer);
    let finish = match (residual.is_some(), call.relu) {
        (false, false) => Finish::Plain,
        (false, true) => Finish::Relu,
        (true, false) => Finish::Add,
        (true, true) => Finish::AddRelu,
    };
    call.workspace.tensor(x.len() / layer.forwards.inputs(), layer.forwards.outputs(), |y| {
        if let Some(residual) = residual {
            y.copy_from_slice(numbers(residual));
        }
        layer.forwards.apply_around(layer.boards(x), &layer.around.forwards, x, y, finish);
    })
}

/// [`forward`], recorded with the nodes of the inputs, of the leaf and of the residual if there is one.
pub(super) fn record<C: CheckpointStrategy, const N: usize>(
    nodes: [NodeGuard; N],
    x: Numbers,
    residual: Option<Numbers>,
    call: LinearCall,
) -> FloatTensor<Autodiff<Flex, C>> {
    let (x, residual) = (contiguous(x), residual.map(contiguous));
    let y = forward(&x, residual.as_ref(), &call);
    match Backwards.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let rectified = call.relu.then(|| y.clone());
            prepared.finish(Kept { x, rectified, call }, y)
        }
        OpsKind::UnTracked(prepared) => prepared.finish(y),
    }
}

/// What the way back needs of the way forwards.
#[derive(Debug, Clone)]
struct Kept {
    x: Numbers,
    /// The outputs, if they went through a ReLU.
    rectified: Option<Numbers>,
    call: LinearCall,
}

#[derive(Debug)]
struct Backwards;

impl<const N: usize> Backward<Flex, N> for Backwards {
    type State = Kept;

    fn backward(self, ops: Ops<Kept, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let Kept { x, rectified, call: LinearCall { layer, workspace, .. } } = ops.state;
        let (mut gradient, x) = (owned(grads.consume::<Flex>(&ops.node)), numbers(&x));
        let dy = gradient.storage_mut();
        if let Some(y) = rectified {
            through_relu(numbers(&y), dy);
            workspace.give_back(y);
        }
        workspace.for_each_part(|sums, share| layer.add_gradients(share.of(x), share.of(dy), &mut sums.gradients));
        let mut parents = ops.parents.into_iter();
        if let (Some(of_x), Some(backwards)) = (parents.next().flatten(), &layer.backwards) {
            let inputs = layer.forwards.inputs();
            let product = |dy: &[f32], dx: &mut [f32], finish| {
                backwards.apply_around(layer.boards(x), &layer.around.backwards, dy, dx, finish);
            };
            // burn would add a second gradient in a pass of its own and free a buffer.
            let dx = if workspace.note_gradient(of_x.id.value) {
                let mut sum = owned(grads.consume::<Flex>(&of_x));
                product(dy, sum.storage_mut(), Finish::Add);
                sum
            } else {
                workspace.tensor(x.len() / inputs, inputs, |dx| product(dy, dx, Finish::Plain))
            };
            grads.register::<Flex>(of_x.id, dx);
        }
        // The second parent is the leaf that stands for the weights.
        match parents.nth(1).flatten() {
            Some(of_residual) => {
                workspace.note_gradient(of_residual.id.value);
                grads.register::<Flex>(of_residual.id, gradient);
            }
            None => workspace.give_back(gradient),
        }
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
fn through_relu(outputs: &[f32], gradients: &mut [f32]) {
    gradients.iter_mut().zip(outputs).for_each(|(gradient, &y)| *gradient = if y > 0.0 { *gradient } else { 0.0 });
}

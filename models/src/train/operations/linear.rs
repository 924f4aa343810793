//! Linear layers as an operation of burn that is recorded for its backward pass.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Flex};

use super::kernel::KernelLayer;
use super::legal::{LegalActions, LegalLayer};
use super::workspace::{Numbers, Share, Workspace, contiguous, numbers, owned};
use crate::inference::Finish;
use crate::weights::Weights;

/// A layer, packed for a step.
#[derive(Debug, Clone)]
pub(crate) enum PackedLayer {
    Kernel(Arc<KernelLayer>),
    /// The last layer of the policy head, and the actions that it computes.
    Legal(Arc<LegalLayer>, Arc<LegalActions>),
}

impl PackedLayer {
    fn inputs(&self) -> usize {
        match self {
            PackedLayer::Kernel(layer) => layer.inputs(),
            PackedLayer::Legal(layer, _) => layer.inputs(),
        }
    }

    fn outputs(&self) -> usize {
        match self {
            PackedLayer::Kernel(layer) => layer.outputs(),
            PackedLayer::Legal(layer, _) => layer.outputs(),
        }
    }

    fn apply(&self, x: &[f32], y: &mut [f32], finish: Finish) {
        match self {
            PackedLayer::Kernel(layer) => layer.apply(x, y, finish),
            PackedLayer::Legal(layer, legal) => layer.apply(legal, x, y),
        }
    }

    fn add_gradients(&self, x: &[f32], dy: &[f32], share: &Share, gradients: &mut Weights) {
        let (x, dy) = (share.of(x), share.of(dy));
        match self {
            PackedLayer::Kernel(layer) => layer.add_gradients(x, dy, gradients),
            PackedLayer::Legal(layer, legal) => {
                layer.add_gradients((legal, share.positions.start), x, dy, gradients);
            }
        }
    }
}

/// A layer, and how it is used.
#[derive(Debug, Clone)]
pub(crate) struct LinearCall {
    pub(crate) layer: PackedLayer,
    pub(crate) relu: bool,
    pub(crate) workspace: Arc<Workspace>,
}

/// Computes the outputs, plus a residual.
pub(super) fn forward(x: &Numbers, residual: Option<&Numbers>, call: &LinearCall) -> Numbers {
    let (x, layer) = (numbers(x), &call.layer);
    call.workspace.tensor(x.len() / layer.inputs(), layer.outputs(), |y| {
        if let Some(residual) = residual {
            y.copy_from_slice(numbers(residual));
        }
        layer.apply(x, y, Finish::of(residual.is_some(), call.relu));
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

/// Kept by the forward pass for the backward pass.
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
        workspace.for_each_part(|sums, share| layer.add_gradients(x, dy, &share, &mut sums.gradients));
        let mut parents = ops.parents.into_iter();
        let (rows, inputs) = (x.len() / layer.inputs(), layer.inputs());
        if let Some(of_x) = parents.next().flatten() {
            let dx = match &layer {
                PackedLayer::Kernel(layer) if !layer.has_input_gradients() => None,
                // burn would add a second gradient in a pass of its own and free a buffer.
                PackedLayer::Kernel(layer) if workspace.note_gradient(of_x.id.value) => {
                    let mut sum = owned(grads.consume::<Flex>(&of_x));
                    layer.apply_backwards(dy, sum.storage_mut(), Finish::Add);
                    Some(sum)
                }
                PackedLayer::Kernel(layer) => {
                    Some(workspace.tensor(rows, inputs, |dx| layer.apply_backwards(dy, dx, Finish::Plain)))
                }
                PackedLayer::Legal(layer, legal) => {
                    Some(workspace.tensor(rows, inputs, |dx| layer.apply_backwards(legal, dy, dx)))
                }
            };
            dx.into_iter().for_each(|dx| grads.register::<Flex>(of_x.id, dx));
        }
        // The second parent is the leaf that represents the weights.
        match parents.nth(1).flatten() {
            Some(of_residual) => {
                workspace.note_gradient(of_residual.id.value);
                grads.register::<Flex>(of_residual.id, gradient);
            }
            None => workspace.give_back(gradient),
        }
    }
}

/// Zeroes the gradients of what a ReLU with these `outputs` has cut off.
fn through_relu(outputs: &[f32], gradients: &mut [f32]) {
    gradients.iter_mut().zip(outputs).for_each(|(gradient, &y)| *gradient = if y > 0.0 { *gradient } else { 0.0 });
}

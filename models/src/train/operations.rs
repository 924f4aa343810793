//! The hot operations of training, on the kernels of inference, as operations of burn: it records them, calls their backward
//! passes, and adds the gradients that several of them have for one tensor.
//!
//! Gradients of weights do not pass through burn's container of gradients: each backward pass adds them to the [`Sums`] of
//! its part of the batch. This saves a copy per group of positions, and every sum is one chain of additions in a fixed order.
//! A single leaf represents all weights in burn's graph, so that everything that depends on it is recorded.

mod workspace;
mod kernel;
mod legal;
mod linear;
mod loss;

pub(crate) use kernel::{Around, KernelLayer};
pub(crate) use legal::{LegalActions, LegalLayer};
pub(crate) use linear::{LinearCall, PackedLayer};
pub(crate) use loss::Targets;
pub(crate) use workspace::{Sums, Workspace};

use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;

/// The operations on a backend.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait Operations: Backend {
    /// A layer of every row of `x [rows, in]`, or of every point and its neighbours, and then a ReLU if it is asked for.
    fn linear(x: FloatTensor<Self>, leaf: FloatTensor<Self>, call: LinearCall) -> FloatTensor<Self>;

    /// [`Operations::linear`], plus `residual [rows, out]` before the ReLU.
    fn linear_onto(
        x: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        leaf: FloatTensor<Self>,
        call: LinearCall,
    ) -> FloatTensor<Self>;

    /// The share of some positions in the loss of a batch, `[1]`, from the logits of policy and value. Adds to the sums of
    /// losses.
    fn loss(policy: FloatTensor<Self>, value: FloatTensor<Self>, targets: &Targets<'_>) -> FloatTensor<Self>;
}

impl Operations for Flex {
    fn linear(x: FloatTensor<Self>, _: FloatTensor<Self>, call: LinearCall) -> FloatTensor<Self> {
        linear::forward(&workspace::contiguous(x), None, &call)
    }

    fn linear_onto(
        x: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        _: FloatTensor<Self>,
        call: LinearCall,
    ) -> FloatTensor<Self> {
        linear::forward(&workspace::contiguous(x), Some(&workspace::contiguous(residual)), &call)
    }

    fn loss(policy: FloatTensor<Self>, value: FloatTensor<Self>, targets: &Targets<'_>) -> FloatTensor<Self> {
        loss::forward(policy, value, targets).0
    }
}

impl<C: CheckpointStrategy> Operations for Autodiff<Flex, C> {
    fn linear(x: FloatTensor<Self>, leaf: FloatTensor<Self>, call: LinearCall) -> FloatTensor<Self> {
        linear::record::<C, 2>([x.node(), leaf.node()], x.into_primitive(), None, call)
    }

    fn linear_onto(
        x: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        leaf: FloatTensor<Self>,
        call: LinearCall,
    ) -> FloatTensor<Self> {
        let nodes = [x.node(), leaf.node(), residual.node()];
        linear::record::<C, 3>(nodes, x.into_primitive(), Some(residual.into_primitive()), call)
    }

    fn loss(policy: FloatTensor<Self>, value: FloatTensor<Self>, targets: &Targets<'_>) -> FloatTensor<Self> {
        let nodes = [policy.node(), value.node()];
        loss::record::<C>(nodes, policy.into_primitive(), value.into_primitive(), targets)
    }
}

/// [`Operations::linear`], or [`Operations::linear_onto`] a residual.
pub(crate) fn linear(x: Tensor<2>, residual: Option<Tensor<2>>, leaf: &Tensor<1>, call: LinearCall) -> Tensor<2> {
    let (x, leaf) = (x.into_dispatch(), leaf.clone().into_dispatch());
    Tensor::from_dispatch(match residual {
        Some(residual) => <Dispatch as Operations>::linear_onto(x, residual.into_dispatch(), leaf, call),
        None => <Dispatch as Operations>::linear(x, leaf, call),
    })
}

/// [`Operations::loss`].
pub(crate) fn loss(policy: Tensor<2>, value: Tensor<2>, targets: &Targets<'_>) -> Tensor<1> {
    Tensor::from_dispatch(<Dispatch as Operations>::loss(policy.into_dispatch(), value.into_dispatch(), targets))
}

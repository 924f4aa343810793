//! Losses and gradients of a batch: by the passes on our kernels, or by burn's autodiff on the processor or a GPU.

mod autodiff;
mod kernels;
#[cfg(any(feature = "wgpu", feature = "cuda"))]
mod on_gpu;

use serde::{Deserialize, Serialize};

use self::autodiff::Autodiff;
use self::kernels::Kernels;
#[cfg(any(feature = "wgpu", feature = "cuda"))]
use self::on_gpu::GpuGradients;
use super::batch::TrainingBatch;
use super::passes::LossSums;
use super::state::LearnerState;
use crate::device::ComputeDevice;
use crate::error::NetworkError;
use crate::weights::Weights;

/// What computes the gradients of training. Both compute the same to within rounding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// Forward and backward passes on the kernels of inference: two to four times as fast for networks over points, and
    /// the same bits with AVX2 and AVX-512.
    #[default]
    Kernels,
    /// The networks in burn and its autodiff, on burn's CPU backend.
    Burn,
}

/// Computes the gradients of a learner.
#[derive(Debug)]
pub(super) enum Gradients {
    Kernels(Kernels),
    Autodiff(Autodiff),
    #[cfg(any(feature = "wgpu", feature = "cuda"))]
    Gpu(GpuGradients),
}

impl Gradients {
    /// For the network of a state that has been checked. On a GPU burn computes them, whatever the backend.
    pub(super) fn new(
        backend: Backend,
        device: ComputeDevice,
        state: &LearnerState,
    ) -> Result<Gradients, NetworkError> {
        Ok(match (backend, device) {
            (Backend::Kernels, ComputeDevice::Cpu) => Gradients::Kernels(Kernels::new(state)),
            (Backend::Burn, ComputeDevice::Cpu) => Gradients::Autodiff(Autodiff::new(state)?),
            #[cfg(any(feature = "wgpu", feature = "cuda"))]
            (_, ComputeDevice::Gpu(number)) => Gradients::Gpu(GpuGradients::new(state, number)?),
            #[cfg(not(any(feature = "wgpu", feature = "cuda")))]
            (_, ComputeDevice::Gpu(_)) => return Err(crate::device::DeviceError::NotBuilt.into()),
        })
    }

    /// Returns the sums of the losses over a batch that has rows, and the gradients of its mean loss by the weights of
    /// `state`. The number of threads, at least 1, does not change the result.
    pub(super) fn of(
        &mut self,
        state: &LearnerState,
        batch: &TrainingBatch,
        value_weight: f64,
        threads: usize,
    ) -> Result<(LossSums, &Weights), NetworkError> {
        match self {
            Gradients::Kernels(kernels) => Ok(kernels.differentiate(state, batch, value_weight, threads)),
            Gradients::Autodiff(autodiff) => autodiff.differentiate(state, batch, value_weight, threads),
            #[cfg(any(feature = "wgpu", feature = "cuda"))]
            Gradients::Gpu(gpu) => gpu.differentiate(state, batch, value_weight),
        }
    }
}

//! Losses and gradients of a batch by burn: with our operations on the processor, with burn's own on a GPU.

mod on_processor;
#[cfg(feature = "gpu")]
mod on_gpu;

#[cfg(feature = "gpu")]
use self::on_gpu::GpuGradients;
use self::on_processor::ProcessorGradients;
use super::batch::TrainingBatch;
use super::config::OptimiserConfig;
use super::loss::LossSums;
use super::state::LearnerState;
use crate::device::ComputeDevice;
use crate::error::NetworkError;
use crate::weights::Weights;

/// Computes the gradients of a learner.
#[derive(Debug)]
pub(super) enum Gradients {
    Processor(Box<ProcessorGradients>),
    #[cfg(feature = "gpu")]
    Gpu(GpuGradients),
}

impl Gradients {
    /// For the network of a state that has been checked, with the heads of `optimiser`.
    pub(super) fn new(optimiser: &OptimiserConfig, state: &LearnerState) -> Result<Gradients, NetworkError> {
        let further = optimiser.further.clone();
        Ok(match optimiser.device {
            ComputeDevice::Cpu => Gradients::Processor(Box::new(ProcessorGradients::new(state, further)?)),
            #[cfg(feature = "gpu")]
            ComputeDevice::Gpu(number) => Gradients::Gpu(GpuGradients::new(state, further, number)?),
            #[cfg(not(feature = "gpu"))]
            ComputeDevice::Gpu(_) => return Err(crate::device::DeviceError::NotBuilt.into()),
        })
    }

    /// Returns the sums of the losses over a batch that has rows, and the gradients of its mean loss by the weights of
    /// `state`. The number of threads, at least 1, does not change the result.
    pub(super) fn of(
        &mut self,
        state: &LearnerState,
        batch: &TrainingBatch,
        threads: usize,
    ) -> Result<(LossSums, &Weights), NetworkError> {
        match self {
            Gradients::Processor(processor) => Ok(processor.differentiate(state, batch, threads)),
            #[cfg(feature = "gpu")]
            Gradients::Gpu(gpu) => gpu.differentiate(state, batch),
        }
    }
}

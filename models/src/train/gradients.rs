//! Losses and gradients of a batch: by the passes on our kernels, or by burn's autodiff.

mod autodiff;
mod kernels;

use serde::{Deserialize, Serialize};

use self::autodiff::Autodiff;
use self::kernels::Kernels;
use super::batch::TrainingBatch;
use super::loss::LossWeights;
use super::passes::LossSums;
use super::state::LearnerState;
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
}

impl Gradients {
    /// For the network of a state that has been checked.
    pub(super) fn new(backend: Backend, state: &LearnerState) -> Result<Gradients, NetworkError> {
        Ok(match backend {
            Backend::Kernels => Gradients::Kernels(Kernels::new(state)),
            Backend::Burn => Gradients::Autodiff(Autodiff::new(state)?),
        })
    }

    /// Returns the sums of the losses over a batch that has rows, and the gradients of its mean loss by the weights of
    /// `state`. The number of threads, at least 1, does not change the result.
    pub(super) fn of(
        &mut self,
        state: &LearnerState,
        batch: &TrainingBatch,
        weights: &LossWeights,
        threads: usize,
    ) -> Result<(LossSums, &Weights), NetworkError> {
        match self {
            Gradients::Kernels(kernels) => Ok(kernels.differentiate(state, batch, weights, threads)),
            Gradients::Autodiff(autodiff) => autodiff.differentiate(state, batch, weights, threads),
        }
    }
}

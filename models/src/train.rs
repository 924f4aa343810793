//! Training: batches, forward and backward passes, AdamW, the learner and its files; and in burn the networks and the loss,
//! which define what the passes compute. All that depends on burn is in here.

mod batch;
mod network;
mod loss;
mod adamw;
mod passes;
mod state;
#[cfg(any(feature = "wgpu", feature = "cuda"))]
pub(crate) mod gpu;
mod gradients;
mod config;
mod learner;
mod learner_file;

pub use batch::{BatchError, Example, TrainingBatch};
pub use config::{LearnError, OptimiserConfig};
#[cfg(any(feature = "wgpu", feature = "cuda"))]
pub(crate) use gpu::gpus;
pub use gradients::Backend;
pub use learner::{Learner, StepReport};
pub use learner_file::{load_state, save_state};
pub use loss::{ILLEGAL_LOGIT, Loss, masked_log_policy, masked_loss};
pub use network::{Output, PolicyValueNet};
pub use state::{LearnerState, StateError};

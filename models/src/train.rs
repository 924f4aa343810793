//! Training by burn: batches, the networks and the loss, gradients, AdamW, the learner and its files. All that depends on burn
//! is in here.

mod batch;
mod network;
mod loss;
mod operations;
mod adamw;
mod state;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
mod gradients;
mod config;
mod learner;

pub use batch::{BatchError, Example, TrainingBatch};
pub use config::{LearnError, OptimiserConfig};
#[cfg(feature = "gpu")]
pub(crate) use gpu::gpus;
pub use learner::{Learner, StepReport};
pub use loss::{ILLEGAL_LOGIT, Loss, masked_log_policy, masked_loss};
pub use network::{Output, PolicyValueNet};
pub use state::{LearnerState, StateError, load_state, save_state};

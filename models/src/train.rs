//! Training by burn: batches, the networks and the loss, gradients, AdamW and Muon, the learner and its files. All that depends
//! on burn is in here.

mod batch;
mod state;
mod network;
mod loss;
mod operations;
mod muon;
mod adamw;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
mod config;
mod gradients;
mod learner;

pub use batch::{BatchError, Example, ILLEGAL, TrainingBatch};
pub use config::{LearnError, Optimiser, OptimiserConfig};
#[cfg(feature = "gpu")]
pub(crate) use gpu::gpus;
pub use learner::{Learner, StepReport};
pub use loss::{ILLEGAL_LOGIT, Loss, Objective, RowLoss, batch_loss, masked_log_policy};
pub use network::{Output, PolicyValueNet};
pub use state::{LearnerState, StateError, load_state, save_state};

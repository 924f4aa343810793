//! Policy/value networks for board games: training, checkpoints and CPU inference.
//!
//! The crate knows a game only by its [`Shape`]: the sizes of its observations and actions, and the lines of its board. [`Weights`] are
//! the one form in which the network, the [`Learner`], the files and the [`Inference`] engine exchange
//! parameters: named tensors of `f32` on the host, bit for bit the same wherever they go.
//!
//! Values are win, draw and loss **as seen by the mover** of the row's position; who that is, and what it is
//! worth to a fixed side, is the caller's knowledge.
//!
//! ```
//! use turnstone_models::{Batch, CheckpointInfo, Example, Inference, Learner, NetworkConfig, OptimiserConfig, Shape};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("latest.safetensors");
//! // One training step on one position of a game with four inputs and three actions.
//! let shape = Shape::flat(4, 3);
//! let network = NetworkConfig::ResidualMlp { blocks: 1, width: 32 };
//! let mut learner = Learner::new(shape.clone(), &network, &OptimiserConfig::default(), 7)?;
//! let mut batch = Batch::new(shape.clone());
//! batch.push(Example {
//!     inputs: &[1.0, 0.0, 0.0, 1.0],
//!     legal: &[true, false, true],
//!     policy: &[0.75, 0.0, 0.25],
//!     value: [0.6, 0.3, 0.1], // win, draw, loss for the mover
//!     auxiliary: [0.0; 2],    // margin and plies left, which this learner does not learn
//! })?;
//! let report = learner.step(&batch, 1e-3)?;
//! assert!(report.total_loss.is_finite());
//!
//! // The averaged weights go to a file that describes itself, and from there to the inference engine.
//! let info = CheckpointInfo::new("toy", 1, Default::default(), network, shape.clone(), learner.steps());
//! turnstone_models::save(&path, &info, &learner.averaged())?;
//! let (info, weights) = turnstone_models::load(&path)?;
//! info.expect("toy", 1, &Default::default(), &shape)?;
//! let mut inference = Inference::new(&weights, &info.network, &info.shape, 64)?;
//! let predictions = inference.evaluate(1, &[1.0, 0.0, 0.0, 1.0]);
//! assert_eq!(predictions.policy.len(), 3);
//! assert_eq!(predictions.value.len(), 3);
//! # Ok(())
//! # }
//! ```

mod weights;

mod shape;

mod network;

mod batch;
mod loss;

mod adamw;
mod learner;

mod files;

mod tensor_file;

mod checkpoint;
mod learner_file;

mod export;

mod inference;

pub use batch::{Batch, BatchError, Example};
pub use checkpoint::{CheckpointInfo, MismatchError, Params, load, load_bytes, save};
pub use export::{
    Attribute, ForwardPass, IR_VERSION, OBSERVATION, OPSET, POLICY_LOGITS, Step, VALUE_LOGITS, forward_pass, onnx,
};
pub use files::atomic_write;
pub use inference::{Finish, Inference, Instructions, Layer, Neighbours, Predictions, softmax};
pub use learner::{LearnError, Learner, LearnerState, OptimiserConfig, StepReport};
pub use learner_file::{load_state, save_state};
pub use loss::{ILLEGAL_LOGIT, Loss, LossWeights, masked_log_policy, masked_loss};
pub use network::{AUXILIARY, NetworkConfig, NetworkError, OUTCOMES, Output, PolicyValueNet};
pub use shape::{Board, Neighbourhood, Shape};
pub use tensor_file::{CheckpointError, Fault};
pub use weights::{NamedTensor, TensorSpec, Weights, WeightsError};

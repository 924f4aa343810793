//! Policy/value networks for board games: checkpoints, CPU inference, ONNX export, and training.
//!
//! The crate knows nothing of a game but its [`Shape`]: the sizes of its observations and actions, and the geometry of its
//! board. [`Weights`], named tensors of `f32` on the host, are the form in which the network, the learner, the files and
//! the [`Inference`] exchange parameters, bit for bit the same in all of them.
//!
//! Values are probabilities of win, draw and loss **for the mover** of the position. Callers convert them to values for a
//! fixed side.
//!
//! ```
//! use turnstone_models::{CheckpointInfo, CheckpointParams, Inference, NetworkConfig, ResidualMlp, Shape, Weights, softmax};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("latest.safetensors");
//! // A network with random weights for a game with four inputs and three actions.
//! let shape = Shape::flat(4, 3);
//! let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 32 });
//! let weights = Weights::random(&network.layout(&shape)?, 7);
//!
//! // A checkpoint describes the game, the network and the weights.
//! let info = CheckpointInfo::new("toy", 1, CheckpointParams::new(), network, shape.clone(), 0);
//! turnstone_models::save(&path, &info, &weights)?;
//! let (info, weights) = turnstone_models::load(&path)?;
//! info.expect("toy", 1, &CheckpointParams::new(), &shape)?;
//!
//! let mut inference = Inference::new(&weights, &info.network, &info.shape, 64)?;
//! let predictions = inference.evaluate(1, &[1.0, 0.0, 0.0, 1.0]);
//! assert_eq!(predictions.policy.len(), 3);
//! let mut value = predictions.value.to_vec();
//! softmax(&mut value);
//! assert!((value.iter().sum::<f32>() - 1.0).abs() < 1e-6); // win, draw, loss for the mover
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//! - `train`: the learner, and the networks and the loss in burn. Without it the crate does not depend on burn, and builds for
//!   `wasm32-unknown-unknown`.
//! - `wgpu`, `cuda`: learning and inference on GPUs, through burn; see [`gpus`] and [`GpuInference`].

mod weights;
mod device;
mod error;
mod shape;
mod network;
mod kinds;
mod tensor_file;
mod checkpoint;
mod inference;
mod precision;
mod cost;
mod export;
#[cfg(feature = "train")]
mod train;
mod gpu;

pub use checkpoint::{CheckpointInfo, CheckpointParams, MismatchError, load, load_bytes, save, save_bytes};
pub use cost::NetworkCost;
pub use device::{ComputeDevice, DeviceError, Gpu, GpuInterface, HalfFloat};
pub use error::NetworkError;
pub use export::{IR_VERSION, OBSERVATION, OPSET, POLICY_LOGITS, VALUE_LOGITS, onnx};
pub use gpu::{GpuBatch, GpuInference, GpuPredictions, gpus};

/// The tensors of burn, of whose operations losses are made.
#[cfg(feature = "train")]
pub use burn::tensor;
pub use inference::{
    Finish, Inference, Instructions, IntegerInstructions, Layer, Neighbours, Predictions, QuantisedNetwork,
    portable_softmax, softmax,
};
pub use kinds::*;
pub use network::{HeadSpec, Init, NeighbourTable, NetworkBuilder, NetworkKind, OUTCOMES, TargetShape, Var};
pub use precision::Precision;
pub use shape::{BoardShape, Neighbourhood, Shape};
pub use tensor_file::{CheckpointError, Fault};
#[cfg(feature = "train")]
pub use train::{
    BatchError, Example, ILLEGAL, ILLEGAL_LOGIT, LearnError, Learner, LearnerState, Loss, Objective, Optimiser,
    OptimiserConfig, Output, PolicyValueNet, RowLoss, StateError, StepReport, TrainingBatch, batch_loss, load_state,
    masked_log_policy, save_state,
};
/// Declares the settings of a kind of network.
#[doc(no_inline)]
pub use turnstone_base::settings;
pub use weights::{NamedTensor, TensorSpec, Weights, WeightsError};

//! Layers with weights and activations of eight bits: the same bits on every processor.
//!
//! Weights are signed bytes with a scale per output, activations unsigned bytes with a step per input, sums exact. Biases
//! and the residual stream remain floats.

mod kernel;
mod steps;
mod layer;

pub use kernel::IntegerInstructions;
pub(super) use kernel::{Destination, QUAD};
pub(super) use layer::IntegerLayer;
pub(super) use steps::Steps;

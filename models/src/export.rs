//! Export to ONNX: the forward pass as a list of operators, and a file of operators and weights.

mod operators;
mod forward;
mod messages;
mod onnx;
#[cfg(test)]
mod tests;

pub use onnx::{IR_VERSION, onnx};
pub use operators::{OBSERVATION, OPSET, POLICY_LOGITS, VALUE_LOGITS};

//! A network for other programs: its forward pass as a list of ONNX operators, and that list with the weights as a file.

mod operators;
mod forward;
mod messages;
mod onnx;
#[cfg(test)]
mod tests;

pub use forward::forward_pass;
pub use onnx::{IR_VERSION, onnx};
pub use operators::{Attribute, ForwardPass, OBSERVATION, OPSET, POLICY_LOGITS, Step, VALUE_LOGITS};

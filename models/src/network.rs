//! A network as a list of operations over named parameters, from which everything else is made: the layout of the
//! parameters, inference with floats and with integers, the graph that is trained, the ONNX file, and the costs.

mod operations;
mod builder;
mod kind;
mod fusion;

pub use builder::{Init, NeighbourTable, NetworkBuilder};
pub(crate) use fusion::{Step, fused};
pub use kind::NetworkKind;
pub use operations::{HeadSpec, OUTCOMES, TargetShape, Var};
pub(crate) use operations::{Network, Op};
#[cfg(feature = "train")]
pub(crate) use operations::{POLICY, VALUE};

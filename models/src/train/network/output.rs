//! The outputs of a network.

use burn::tensor::Tensor;

/// The outputs for each row of a batch: logits, not probabilities.
#[derive(Debug)]
pub struct Output {
    /// Logits of all actions, legal or not, `[batch, actions]`.
    pub policy: Tensor<2>,
    /// Logits of win, draw and loss for the mover, `[batch, 3]`.
    pub value: Tensor<2>,
}

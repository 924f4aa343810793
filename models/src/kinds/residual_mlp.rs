//! The residual MLP.

use serde::{Deserialize, Serialize};

use crate::error::{NetworkError, within};
use crate::network::{Init, NetworkBuilder, NetworkKind, Var};

/// A residual MLP: a stem, then blocks `x -> relu(x + W2 relu(W1 x + b1) + b2)` of constant width, without
/// normalisation layers. It reads an observation as a flat vector and does not use the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResidualMlp {
    /// Number of residual blocks, 0 to 32.
    pub blocks: usize,
    /// Units per layer, 1 to 2048.
    pub width: usize,
}

impl Default for ResidualMlp {
    fn default() -> Self {
        ResidualMlp { blocks: 3, width: 128 }
    }
}

impl NetworkKind for ResidualMlp {
    const NAME: &'static str = "residual_mlp";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let inputs = net.inputs();
        let mut x = net.rectified("stem", inputs, self.width);
        for block in 0..self.blocks {
            let inner = net.rectified(&format!("blocks.{block}.first"), x, self.width);
            let into_stream = Init::Residual(2 * self.blocks);
            let change = net.linear(&format!("blocks.{block}.second"), inner, self.width, into_stream);
            let sum = net.add(x, change);
            x = net.relu(sum);
        }
        let actions = net.shape().actions;
        [net.linear("policy", x, actions, Init::Head), net.value_head(x, (self.width / 2).max(16))]
    }

    fn validate(&self) -> Result<(), NetworkError> {
        within("the number of blocks", self.blocks, 0..=32)?;
        within("the network width", self.width, 1..=2048)
    }

    fn describe(&self) -> String {
        format!("residual MLP, {} blocks of {} units", self.blocks, self.width)
    }
}

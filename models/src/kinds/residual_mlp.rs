//! The residual MLP.

use turnstone_base::settings;

use crate::network::{Init, NetworkBuilder, NetworkKind, Var};

settings! {
    /// A residual MLP: a stem, then blocks `x -> relu(x + W2 relu(W1 x + b1) + b2)` of constant width, without
    /// normalisation layers. It reads an observation as a flat vector and does not use the board.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ResidualMlp {
        /// Residual blocks.
        pub blocks: usize = 3, 0..=32;
        /// Units per layer.
        pub width: usize = 128, 1..=2048;
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

    fn describe(&self) -> String {
        format!("residual MLP, {} blocks of {} units", self.blocks, self.width)
    }
}

//! A custom kind of network.

use serde::{Deserialize, Serialize};
use turnstone_models::{Init, Neighbourhood, NetworkBuilder, NetworkKind, Var};

/// Residual blocks over the lines of the board, each of which also sees the mean of every channel over the whole board.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overview {
    /// Number of residual blocks.
    pub blocks: usize,
    /// Channels per point.
    pub channels: usize,
}

impl Default for Overview {
    fn default() -> Self {
        Self { blocks: 4, channels: 48 }
    }
}

impl NetworkKind for Overview {
    const NAME: &'static str = "overview";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        net.within("the number of blocks", self.blocks, 1..=32);
        net.within("the number of channels", self.channels, 1..=512);
        let near = net.neighbours(Neighbourhood::Lines, 1);
        let points = net.points();
        let mut x = net.rectified("stem", points, self.channels);
        for block in 0..self.blocks {
            let name = |part| format!("blocks.{block}.{part}");
            let inner = net.rectified_around(&name("near"), x, near, self.channels);
            let mean = net.mean(inner);
            let far = net.linear(&name("far"), mean, self.channels, Init::Residual(2 * self.blocks));
            let change = net.linear(&name("change"), inner, self.channels, Init::Residual(2 * self.blocks));
            let change = net.add(change, far);
            let sum = net.add(x, change);
            x = net.relu(sum);
        }
        net.heads(x)
    }
}

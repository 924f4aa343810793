//! The residual tower of convolutions.

use turnstone_base::settings;

use crate::network::{Init, NetworkBuilder, NetworkKind, Var};
use crate::shape::Neighbourhood;

settings! {
    /// A residual tower of 3x3 convolutions over the cells of the lattice, with zeros beyond its edge: a stem, then blocks
    /// `x -> relu(x + W2 N(h) + b2 + p)` with `h = relu(W1 N(x) + b1)`. `N` concatenates the channels of a cell and of the
    /// eight cells around it. `p`, with `global_pooling`, is a layer of the mean and the maximum of each channel of `h` over
    /// the board (KataGo; Wu 2019, arXiv:1902.10565); without it `p` is 0. Heads as in
    /// [`ResidualGraph`](super::ResidualGraph).
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ResidualConv {
        /// Residual blocks.
        pub blocks: usize = 6, 0..=32;
        /// Features of each cell.
        pub channels: usize = 64, 1..=512;
        /// Whether every block reads means and maxima of its channels over the whole board.
        pub global_pooling: bool;
    }
}

impl NetworkKind for ResidualConv {
    const NAME: &'static str = "residual_conv";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let (channels, into_stream) = (self.channels, Init::Residual(2 * self.blocks));
        let around = net.neighbours(Neighbourhood::Square, 1);
        let points = net.points();
        let mut x = net.rectified_around("stem", points, around, channels);
        for block in 0..self.blocks {
            let name = |part: &str| format!("blocks.{block}.{part}");
            let inner = net.rectified_around(&name("first"), x, around, channels);
            let mut change = net.linear_around(&name("second"), inner, around, channels, into_stream);
            if self.global_pooling {
                let (mean, max) = (net.mean(inner), net.max(inner));
                let pooled = net.concat(mean, max);
                let everywhere = net.linear(&name("pooled"), pooled, channels, into_stream);
                change = net.add(change, everywhere);
            }
            let sum = net.add(x, change);
            x = net.relu(sum);
        }
        net.heads(x)
    }

    fn describe(&self) -> String {
        let pooling = if self.global_pooling { ", global pooling" } else { "" };
        format!("residual conv, {} blocks of {} channels{pooling}", self.blocks, self.channels)
    }
}

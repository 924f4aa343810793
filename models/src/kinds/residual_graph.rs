//! The residual network over the points of a board.

use turnstone_base::settings;

use crate::network::{Init, NetworkBuilder, NetworkKind, Var};
use crate::shape::Neighbourhood;

settings! {
    /// A residual network over the board's points: a stem per point, then blocks
    /// `x -> relu(x + W2 relu(W1 N(x) + b1) + b2)` with weights shared by all points. `N` concatenates the channels of a
    /// point and of its neighbours, with zeros beyond the end of a line. The heads read a few channels of every point.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ResidualGraph {
        /// Residual blocks.
        pub blocks: usize = 3, 0..=32;
        /// Features of each point.
        pub channels: usize = 48, 1..=512;
        /// Steps that a block looks in each direction.
        pub reach: usize = 1, 1..=16;
        /// Along the board's lines, or in the eight directions of a lattice.
        pub neighbourhood: Neighbourhood;
    }
}

impl NetworkKind for ResidualGraph {
    const NAME: &'static str = "residual_graph";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let near = net.neighbours(self.neighbourhood, self.reach);
        let points = net.points();
        let mut x = net.rectified("stem", points, self.channels);
        for block in 0..self.blocks {
            let inner = net.rectified_around(&format!("blocks.{block}.first"), x, near, self.channels);
            let into_stream = Init::Residual(2 * self.blocks);
            let change = net.linear(&format!("blocks.{block}.second"), inner, self.channels, into_stream);
            let sum = net.add(x, change);
            x = net.relu(sum);
        }
        net.heads(x)
    }

    fn describe(&self) -> String {
        let near = match (self.neighbourhood, self.reach) {
            (Neighbourhood::Lines, reach) => format!("{reach} along the lines"),
            (Neighbourhood::Square, 1) => "the square around".to_owned(),
            (Neighbourhood::Square, reach) => format!("the square around to {reach}"),
        };
        format!("residual graph, {} blocks of {} channels, {near}", self.blocks, self.channels)
    }
}

//! The residual network over the points of a board.

use serde::{Deserialize, Serialize};

use crate::error::{NetworkError, within};
use crate::network::{Heads, Init, NetworkBuilder, NetworkKind, Var};
use crate::shape::Neighbourhood;

/// A residual network over the board's points: a stem per point, then blocks
/// `x -> relu(x + W2 relu(W1 N(x) + b1) + b2)` with weights shared by all points. `N` concatenates the channels of a
/// point and of its neighbours, with zeros beyond the end of a line. The heads read a few channels of every point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResidualGraph {
    /// Number of residual blocks, 0 to 32.
    pub blocks: usize,
    /// Channels per point, 1 to 512.
    pub channels: usize,
    /// Number of neighbours in each direction, 1 to 16.
    pub reach: usize,
    /// The directions in which neighbours are found.
    pub neighbourhood: Neighbourhood,
    /// Dense heads, or ones that share their weights over the points.
    pub heads: Heads,
}

impl Default for ResidualGraph {
    fn default() -> Self {
        ResidualGraph { blocks: 3, channels: 48, reach: 1, neighbourhood: Neighbourhood::Lines, heads: Heads::Dense }
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
        self.heads.build(net, x)
    }

    fn validate(&self) -> Result<(), NetworkError> {
        within("the number of blocks", self.blocks, 0..=32)?;
        within("the number of channels", self.channels, 1..=512)?;
        within("the reach", self.reach, 1..=16)
    }

    fn describe(&self) -> String {
        let near = match (self.neighbourhood, self.reach) {
            (Neighbourhood::Lines, reach) => format!("{reach} along the lines"),
            (Neighbourhood::Square, 1) => "the square around".to_owned(),
            (Neighbourhood::Square, reach) => format!("the square around to {reach}"),
        };
        let (blocks, channels, heads) = (self.blocks, self.channels, self.heads.describe());
        format!("residual graph, {blocks} blocks of {channels} channels, {near}{heads}")
    }
}

//! The heads of networks over points, as a size of each kind.

use serde::{Deserialize, Serialize};

use crate::network::{NetworkBuilder, Var};

/// The heads of a network over points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Heads {
    /// Dense layers over a few channels of all points; see [`NetworkBuilder::heads`].
    #[default]
    Dense,
    /// Weights that all points share; see [`NetworkBuilder::shared_heads`].
    Shared,
}

impl Heads {
    /// Adds the heads to a network, which read `x`, the channels of each point.
    pub fn build(self, net: &mut NetworkBuilder<'_>, x: Var) -> [Var; 2] {
        match self {
            Heads::Dense => net.heads(x),
            Heads::Shared => net.shared_heads(x),
        }
    }

    /// What the description of a network adds.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Heads::Dense => "",
            Heads::Shared => ", shared heads",
        }
    }
}

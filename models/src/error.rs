//! The error of sizes, boards and weights that make no network.

use std::ops::RangeInclusive;

use turnstone_base::settings::Fault;

use crate::device::DeviceError;
use crate::weights::WeightsError;

/// Why a network cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// A size or a setting is out of its range.
    #[error(transparent)]
    Setting(#[from] Fault),
    /// The network works on points, but the game's shape has none.
    #[error("this kind of network needs a board of points, and the game has none")]
    NoPoints,
    /// The network follows the lines of the board, but the board has none.
    #[error("a residual_graph over lines needs a board with lines, and this one has no lines")]
    NoLines,
    /// The network works on a lattice, but the board has less than two rows or columns.
    #[error(
        "a residual_graph over a square, like a residual_conv, needs a lattice, and this board has no lattice of two rows \
         and columns"
    )]
    NoLattice,
    /// A target has a number for each point, but the game's shape has none.
    #[error("the target `{0}` needs a board of points, and the game has none")]
    NoPointsOfTarget(String),
    /// A kind of network contradicts itself: sizes that do not fit, or two layers of one name.
    #[error("the network cannot be built: {0}")]
    Contradiction(String),
    /// The number of points differs between the parts of a board, or a line or cell is out of range.
    #[error("the board's points, lines and cells contradict each other")]
    BadBoard,
    /// Integers of eight bits were asked for on a GPU.
    #[error("integers of eight bits are for the processor: on a GPU give f32 or auto as the precision")]
    NoGpuIntegers,
    /// The GPU cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The weights belong to another network.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// Checks that a size is in its range.
pub(crate) fn within(what: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<(), NetworkError> {
    let expected = || format!("from {} to {}", range.start(), range.end());
    if range.contains(&value) { Ok(()) } else { Err(Fault::misfit(what, value, expected()).into()) }
}

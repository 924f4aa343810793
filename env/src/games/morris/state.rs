//! The parameters of Morris, and its positions as sets of pieces.

use super::board::{BOARD, Mills};
use crate::side::Side;

/// The game with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Morris {
    /// Pieces of each side.
    pub(super) pieces: u8,
    /// Plies in a row without a placement or a removal that make a draw; 0 means no limit.
    pub(super) no_progress_limit: u16,
}

impl Default for Morris {
    fn default() -> Self {
        Self { pieces: 8, no_progress_limit: 100 }
    }
}

/// A position. Equality covers the count of plies without progress, which is 0 throughout where no limit needs it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Pieces of each side as bit sets of points.
    pub(super) pieces: [u32; 2],
    /// Pieces that each side has yet to place.
    pub(super) hands: [u8; 2],
    /// Plies since the last placement or removal.
    pub(super) no_progress: u16,
    pub(super) mover: Side,
    /// The mover has closed a mill and has yet to remove a piece.
    pub(super) removing: bool,
}

impl State {
    /// The position as if it had just come up: without plies without progress.
    #[must_use]
    pub fn without_counters(&self) -> Self {
        Self { no_progress: 0, ..*self }
    }

    /// The pieces of a side on the board, point `p` at bit `p`.
    #[must_use]
    pub const fn pieces(&self, side: Side) -> u32 {
        self.pieces[side.index()]
    }

    /// Pieces that a side has yet to place.
    #[must_use]
    pub const fn in_hand(&self, side: Side) -> u8 {
        self.hands[side.index()]
    }

    /// Whether the mover has closed a mill and has yet to remove a piece.
    #[must_use]
    pub const fn removal_pending(&self) -> bool {
        self.removing
    }

    #[inline]
    pub(super) fn empty(&self) -> u32 {
        Mills::ALL & !(self.pieces[0] | self.pieces[1])
    }

    /// Pieces of a side on the board and in hand.
    #[inline]
    pub(super) fn total(&self, side: Side) -> u32 {
        self.pieces(side).count_ones() + u32::from(self.in_hand(side))
    }

    /// Whether a side's pieces may hop to any empty point.
    #[inline]
    pub(super) fn hops(&self, side: Side) -> bool {
        self.in_hand(side) == 0 && self.pieces(side).count_ones() == 3
    }

    /// The pieces of `side` that its opponent may remove.
    #[inline]
    pub(super) fn removable(&self, side: Side) -> u32 {
        self.pieces(side) & !BOARD.in_mills(self.pieces(side))
    }
}

impl Morris {
    #[inline]
    pub(super) fn limit_reached(&self, state: &State) -> bool {
        self.no_progress_limit > 0 && state.no_progress >= self.no_progress_limit
    }

    /// Whether the mover, who has no removal to make, has lost.
    #[inline]
    pub(super) fn mover_lost(&self, state: &State) -> bool {
        let (own, mover) = (state.pieces(state.mover), state.mover);
        let total = state.total(mover);
        // Three pieces hop, and there is always a point to hop to.
        total <= 2 || (total > 3 && state.in_hand(mover) == 0 && BOARD.near_set(own) & state.empty() == 0)
    }
}

//! Mancala's parameters, and its positions as holes in sowing order.

use crate::action::Action;
use crate::side::Side;

/// The most pits a row can have: two rows and two stores then fill a state's 16 holes.
pub(super) const MAX_PITS: u16 = 7;
/// Number of holes in a state.
pub(super) const HOLES: usize = 2 * (MAX_PITS as usize + 1);

/// When the game ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EndRule {
    /// When the player to move has no stones in their pits.
    MoverCannotMove,
    /// As soon as one row is empty after any action.
    EitherSideEmpty,
}

pub(super) const END_RULES: [(&str, EndRule); 2] =
    [("mover_cannot_move", EndRule::MoverCannotMove), ("either_side_empty", EndRule::EitherSideEmpty)];

/// The game with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mancala {
    pub(super) pits: u8,
    pub(super) stones: u8,
    /// Whether a last stone in an empty own pit is taken although the opposite pit is empty too.
    pub(super) empty_capture: bool,
    pub(super) end_rule: EndRule,
    pub(super) first_player: Side,
}

impl Default for Mancala {
    fn default() -> Self {
        Self { pits: 6, stones: 4, empty_capture: true, end_rule: EndRule::MoverCannotMove, first_player: Side::First }
    }
}

/// A position: all holes in sowing order, and the mover. In a finished game all stones are in the stores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// `pits` pits and the store of player 1 (B2.., 8), then `pits` pits and the store of player 2 (A7.., 1).
    pub(super) holes: [u8; HOLES],
    pub(super) mover: Side,
}

impl Mancala {
    /// Pits in a row.
    #[must_use]
    pub fn pits(&self) -> usize {
        usize::from(self.pits)
    }

    /// Stones in play and in the stores together.
    #[must_use]
    pub fn total(&self) -> u16 {
        2 * u16::from(self.pits) * u16::from(self.stones)
    }

    /// Whether a last stone in an empty own pit is taken although the opposite pit is empty too.
    #[must_use]
    pub fn empty_capture(&self) -> bool {
        self.empty_capture
    }

    /// When the game ends.
    #[must_use]
    pub fn end_rule(&self) -> EndRule {
        self.end_rule
    }

    /// Stones in the store of `side`.
    #[inline]
    #[must_use]
    pub fn store(&self, state: &State, side: Side) -> u8 {
        state.holes[self.store_hole(side)]
    }

    /// Stones in the pits of `side` in its sowing order, the pit farthest from its store first.
    #[inline]
    #[must_use]
    pub fn row<'a>(&self, state: &'a State, side: Side) -> &'a [u8] {
        let first = self.first_hole(side);
        &state.holes[first..first + self.pits()]
    }

    #[inline]
    pub(super) fn first_hole(&self, side: Side) -> usize {
        side.index() * (self.pits() + 1)
    }

    #[inline]
    pub(super) fn store_hole(&self, side: Side) -> usize {
        self.first_hole(side) + self.pits()
    }

    /// The hole that an action sows from. Actions number the pits by label: B2.., then A2..
    #[inline]
    pub(super) fn hole(&self, action: Action) -> usize {
        let (pits, action) = (self.pits(), action.index());
        if action < pits { action } else { 3 * pits - action }
    }

    /// The pits of `side` in its sowing order as the bytes of a word, the lowest first.
    #[inline]
    pub(super) fn row_bytes(&self, state: &State, side: Side) -> u64 {
        let first = self.first_hole(side);
        let bytes = state.holes[first..first + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes) & (u64::MAX >> (8 * (8 - self.pits())))
    }

    /// The bytes of a row from its other end.
    #[inline]
    pub(super) fn reversed(&self, row: u64) -> u64 {
        row.swap_bytes() >> (8 * (8 - self.pits()))
    }

    #[inline]
    pub(super) fn row_is_empty(&self, state: &State, side: Side) -> bool {
        self.row_bytes(state, side) == 0
    }

    #[inline]
    pub(super) fn is_over(&self, state: &State) -> bool {
        self.row_is_empty(state, state.mover)
            || (self.end_rule == EndRule::EitherSideEmpty && self.row_is_empty(state, state.mover.other()))
    }
}

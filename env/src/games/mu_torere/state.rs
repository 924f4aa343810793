//! Mu Torere's parameters, its positions and the moves that they allow.

use super::board::{HUB, INTO, NEAR};
use crate::side::Side;

/// The game with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MuTorere {
    /// Plies after which the game is a draw; 0 means no limit.
    pub max_plies: u16,
    /// The traditional rule: a ring piece may enter the hub only if an opponent's piece is next to it on the ring, and
    /// a move along the ring is always allowed.
    pub hub_needs_neighbour: bool,
}

impl Default for MuTorere {
    fn default() -> Self {
        Self { max_plies: 100, hub_needs_neighbour: false }
    }
}

/// A position. Positions with different `plies` differ; without a ply limit `plies` stays 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Pieces of each side as bit sets of squares.
    pub(super) pieces: [u16; 2],
    pub(super) plies: u16,
    pub(super) mover: Side,
}

impl State {
    /// The position as if it had just come up: without plies played.
    #[must_use]
    pub fn without_counters(&self) -> Self {
        Self { plies: 0, ..*self }
    }

    /// Plies played; 0 throughout where no limit needs them.
    #[must_use]
    pub const fn plies(&self) -> u16 {
        self.plies
    }

    #[inline]
    fn empty_square(&self) -> u8 {
        (!(self.pieces[0] | self.pieces[1])).trailing_zeros() as u8
    }
}

impl MuTorere {
    #[inline]
    pub(super) fn limit_reached(&self, state: &State) -> bool {
        self.max_plies > 0 && state.plies >= self.max_plies
    }

    /// The squares from which the mover may move into the empty square, by the rules of movement alone, limits aside.
    #[inline]
    pub(super) fn starts(&self, state: &State) -> u16 {
        let end = state.empty_square();
        let own = state.pieces[state.mover.index()] & NEAR[end as usize];
        let opponents = state.pieces[state.mover.other().index()];
        match self.hub_needs_neighbour {
            false if opponents & NEAR[end as usize] == 0 => own & 1 << HUB,
            false => own,
            true if end == HUB => {
                squares(own).filter(|&start| opponents & NEAR[start] != 0).map(|start| 1 << start).sum()
            }
            true => own,
        }
    }

    /// The mover's moves, limits aside, as a set of actions.
    #[inline]
    pub(super) fn moves(&self, state: &State) -> u32 {
        let (low, high) = &INTO[state.empty_square() as usize];
        let starts = usize::from(self.starts(state));
        low[starts % 32] | high[starts / 32 % 16]
    }
}

/// The squares of a bit set in increasing order.
#[inline]
fn squares(mut set: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let square = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (square < 16).then_some(square)
    })
}

/// 0 for an empty square, else the number of the player whose piece stands there.
pub(super) fn owner(state: &State, square: u8) -> u8 {
    Side::BOTH.iter().find(|side| state.pieces[side.index()] >> square & 1 == 1).map_or(0, |side| side.number())
}

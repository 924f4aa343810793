//! Mu Torere's parameters, its positions and the moves that they allow.

use super::board::{HUB, INTO, NEAR};
use crate::action::Action;
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

/// A position. Equality covers the ply count, which is 0 throughout where no limit needs it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Pieces of each side as bit sets of squares.
    pub(super) pieces: [u16; 2],
    pub(super) plies: u16,
    pub(super) mover: Side,
}

impl State {
    fn empty_square(&self) -> u8 {
        (!(self.pieces[0] | self.pieces[1])).trailing_zeros() as u8
    }
}

impl MuTorere {
    pub(super) fn limit_reached(&self, state: &State) -> bool {
        self.max_plies > 0 && state.plies >= self.max_plies
    }

    /// Whether the mover may move from `start` into the empty square `end` next to it.
    #[inline]
    fn allowed(&self, state: &State, start: u8, end: u8) -> bool {
        let opponents = state.pieces[state.mover.other().index()];
        if state.pieces[state.mover.index()] >> start & 1 == 0 {
            return false;
        }
        if self.hub_needs_neighbour {
            return end != HUB || opponents & NEAR[start as usize] & !(1 << HUB) != 0;
        }
        start == HUB || opponents & NEAR[end as usize] != 0
    }

    /// The mover's moves by the rules of movement alone, limits aside.
    #[inline]
    pub(super) fn moves(&self, state: &State) -> impl Iterator<Item = Action> {
        let end = state.empty_square();
        let reach = if end == HUB { 8 } else { 3 };
        INTO[end as usize][..reach]
            .iter()
            .filter(move |&&(_, start)| self.allowed(state, start, end))
            .map(|&(action, _)| Action(u16::from(action)))
    }
}

/// 0 for an empty square, else the number of the player whose piece stands there.
pub(super) fn owner(state: &State, square: u8) -> u8 {
    Side::BOTH.iter().find(|side| state.pieces[side.index()] >> square & 1 == 1).map_or(0, |side| side.number())
}

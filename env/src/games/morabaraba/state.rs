//! Morabaraba's parameters, and its positions as sets of cows.

use super::ban::Ban;
use super::board::{BOARD, Mills};
use crate::side::Side;

/// The game with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Morabaraba {
    /// Cows of each side.
    pub(super) cows: u8,
    /// Plies in a row without a shot that end the game; 0 means no limit.
    pub(super) quiet_limit: u8,
    /// The same while at least one player is flying.
    pub(super) fly_limit: u8,
}

impl Default for Morabaraba {
    fn default() -> Self {
        Self { cows: 12, quiet_limit: 50, fly_limit: 10 }
    }
}

/// A position. Equality covers the counts of plies, each 0 throughout where no limit needs it, and the bans that can
/// still forbid a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Cows of each side as bit sets of points.
    pub(super) cows: [u32; 2],
    /// Cows that each side has yet to place.
    pub(super) hands: [u8; 2],
    /// Mills that each side may not form by its next move.
    pub(super) bans: [Ban; 2],
    /// Plies since the last shot.
    pub(super) quiet: u8,
    /// Plies since the last shot that were made while a player was flying.
    pub(super) fly: u8,
    pub(super) mover: Side,
    /// The mover has formed a mill and has yet to shoot.
    pub(super) shooting: bool,
}

impl State {
    /// The cows of a side on the board, point `p` at bit `p`.
    #[must_use]
    pub const fn cows(&self, side: Side) -> u32 {
        self.cows[side.index()]
    }

    /// Cows that a side has yet to place.
    #[must_use]
    pub const fn in_hand(&self, side: Side) -> u8 {
        self.hands[side.index()]
    }

    /// Whether the mover has formed a mill and has yet to shoot.
    #[must_use]
    pub const fn shot_pending(&self) -> bool {
        self.shooting
    }

    /// Plies since the last shot; 0 throughout where no limit needs them.
    #[must_use]
    pub const fn quiet_plies(&self) -> u8 {
        self.quiet
    }

    /// Plies since the last shot that were made while a player was flying; 0 throughout where no limit needs them.
    #[must_use]
    pub const fn flight_plies(&self) -> u8 {
        self.fly
    }

    /// The mills that a side may not form by its next move, as sets of points.
    pub fn banned_mills(&self, side: Side) -> impl Iterator<Item = u32> + use<> {
        self.bans[side.index()].mills()
    }

    /// The same position with this side to move.
    #[must_use]
    pub const fn with_mover(self, mover: Side) -> Self {
        Self { mover, ..self }
    }

    /// Whether a side's cows may fly to any empty point.
    #[inline]
    #[must_use]
    pub const fn flies(&self, side: Side) -> bool {
        self.in_hand(side) == 0 && self.cows(side).count_ones() == 3
    }

    #[inline]
    pub(super) fn empty(&self) -> u32 {
        Mills::ALL & !(self.cows[0] | self.cows[1])
    }

    /// Cows of a side on the board and in hand.
    #[inline]
    pub(super) fn total(&self, side: Side) -> u32 {
        self.cows(side).count_ones() + u32::from(self.in_hand(side))
    }

    /// Where a cow of the side may go from a point, if it were the side's turn and apart from how far a cow moves.
    #[inline]
    pub(super) fn open(&self, side: Side) -> impl Fn(u8) -> u32 {
        let empty = self.empty();
        let (hole, exempt) = self.bans[side.index()].hole_and_exempt();
        move |from| if exempt >> from & 1 == 1 { empty } else { empty & !hole }
    }

    /// The points that the side's cow at `from` may move or fly to, if it were the side's turn.
    #[must_use]
    pub fn reach(&self, side: Side, from: u8) -> u32 {
        let reach = if self.flies(side) { Mills::ALL } else { BOARD.near[from as usize] };
        reach & self.open(side)(from)
    }
}

/// The cows of `set` that may be shot.
#[inline]
pub(super) fn targets(set: u32) -> u32 {
    let alone = set & !BOARD.in_mills(set);
    if alone == 0 { set } else { alone }
}

impl Morabaraba {
    /// Plies without a shot that end the game; 0 if there is no such limit.
    #[must_use]
    pub const fn quiet_limit(&self) -> u8 {
        self.quiet_limit
    }

    /// Plies of flight without a shot that end the game; 0 if there is no such limit.
    #[must_use]
    pub const fn fly_limit(&self) -> u8 {
        self.fly_limit
    }

    /// Cows that `side` has shot.
    #[inline]
    #[must_use]
    pub fn score(&self, state: &State, side: Side) -> u32 {
        u32::from(self.cows) - state.total(side.other())
    }

    #[inline]
    pub(super) fn limit_reached(&self, state: &State) -> bool {
        (self.quiet_limit > 0 && state.quiet >= self.quiet_limit) || (self.fly_limit > 0 && state.fly >= self.fly_limit)
    }

    /// Whether the game is over, there being no shot pending.
    #[inline]
    pub(super) fn is_over(&self, state: &State) -> bool {
        state.total(state.mover) <= 2 || self.limit_reached(state) || self.blocked(state)
    }

    /// Whether the mover cannot place, move or fly.
    #[inline]
    pub(super) fn blocked(&self, state: &State) -> bool {
        let own = state.cows(state.mover);
        if state.in_hand(state.mover) > 0 || own.count_ones() <= 3 {
            return false; // there is always a point to place on or fly to
        }
        let (hole, exempt) = state.bans[state.mover.index()].hole_and_exempt();
        BOARD.near_set(own) & state.empty() & !hole == 0 && BOARD.near_set(own & exempt) & hole == 0
    }
}

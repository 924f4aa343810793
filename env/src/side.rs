//! The two sides of a game.

use std::fmt;

/// One of the two players. `First` is player 1 of the notation, the side that [rules](crate) name first; it need not
/// be the one that moves first (Mancala's `first_player`) and sides need not alternate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Side {
    /// Player 1.
    First = 0,
    /// Player 2.
    Second = 1,
}

impl Side {
    /// Both sides, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The opponent.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 for `First`, 1 for `Second`: for indexing arrays kept per side.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The player's number in notation: 1 or 2.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The side with this player number, if it is 1 or 2.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::First),
            2 => Some(Self::Second),
            _ => None,
        }
    }

    /// +1 for `First`, -1 for `Second`: turns a value for `First` into one for this side, and back.
    #[must_use]
    pub const fn sign(self) -> f32 {
        match self {
            Self::First => 1.0,
            Self::Second => -1.0,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.number())
    }
}

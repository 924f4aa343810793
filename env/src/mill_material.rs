//! The pieces and the turn of a position of a mill game, and checks that some game may lead to it.

use crate::side::Side;

/// The pieces on the board and in hand, and whose turn it is.
pub(crate) struct Material {
    /// Pieces that each side has at the start.
    pub(crate) all: u8,
    pub(crate) board: [u32; 2],
    pub(crate) hands: [u8; 2],
    pub(crate) mover: Side,
    /// Whether the mover has closed a mill and has yet to remove a piece.
    pub(crate) removing: bool,
    /// The sides' letters, for messages.
    pub(crate) letters: [char; 3],
}

impl Material {
    fn total(&self, side: Side) -> u32 {
        self.board[side.index()].count_ones() + u32::from(self.hands[side.index()])
    }

    /// Pieces that the side has lost.
    pub(crate) fn lost(&self, side: Side) -> u32 {
        u32::from(self.all).saturating_sub(self.total(side))
    }

    /// Pieces that the side has placed.
    pub(crate) fn placed(&self, side: Side) -> u32 {
        u32::from(self.all - self.hands[side.index()])
    }

    /// Whether some piece is still to be placed, so that nothing has been moved yet.
    pub(crate) fn placing(&self) -> bool {
        self.hands != [0, 0]
    }

    /// Refuses positions that certainly no game leads to, with the reason.
    pub(crate) fn check(&self) -> Result<(), String> {
        let letter = |side: Side| self.letters[side.index()];
        for side in Side::BOTH {
            if self.total(side) > u32::from(self.all) {
                return Err(format!("{} has {} pieces, more than {}", letter(side), self.total(side), self.all));
            }
        }
        self.check_turn()?;
        let (mover, other) = (self.mover, self.mover.other());
        let least = if self.removing { 3 } else { 2 }; // a player with two has just lost a piece and is to move
        for (side, least) in [(mover, least), (other, 3)] {
            if self.total(side) < least {
                return Err(format!("{} has {} pieces: the game ended before", letter(side), self.total(side)));
            }
        }
        for side in Side::BOTH {
            // The first mill takes three placements and each ply removes one piece at most.
            let unused = 2 + u32::from(self.removing && side == mover);
            if self.placing() && self.lost(side.other()) > self.placed(side).saturating_sub(unused) {
                let (lost, by, placed) = (self.lost(side.other()), letter(side), self.placed(side));
                return Err(format!("{} lost {lost} pieces to {by}'s {placed} placements", letter(side.other())));
            }
        }
        if !self.removing && self.placed(other) > 0 && self.board[other.index()] == 0 {
            return Err(format!("{} has just put a piece on the board, where it has none", letter(other)));
        }
        Ok(())
    }

    /// The sides place in turn, the first side first, and a side that has closed a mill moves again.
    fn check_turn(&self) -> Result<(), String> {
        let [first, second] = self.hands;
        let moved = !self.placing();
        let fits = match (self.mover, self.removing) {
            (Side::First, false) | (Side::Second, true) => first == second,
            (Side::Second, false) | (Side::First, true) => moved || second.checked_sub(first) == Some(1),
        };
        if fits {
            return Ok(());
        }
        let [a, b, _] = self.letters;
        let turn = if self.removing { "to remove a piece" } else { "to move" };
        let mover = self.letters[self.mover.index()];
        Err(format!("{a} and {b} place in turn: with {first} and {second} in hand it cannot be {mover}'s turn {turn}"))
    }
}

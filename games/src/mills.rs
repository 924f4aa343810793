//! What the two mill games have in common: an evaluation by weighted features of a side's pieces.

use turnstone_env::{Rules, Side};
use turnstone_search::classic::Heuristic;

/// A game whose players form mills.
pub(crate) trait MillGame: Rules {
    /// The position as the features see it.
    fn position(state: &Self::State) -> Position;
}

/// Pieces, mills, lines open for a mill, double mills, mobility and blocked pieces, weighted; hundredths of a piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mills(pub Weights);

impl<G: MillGame> Heuristic<G> for Mills {
    fn name(&self) -> &'static str {
        "mills"
    }

    fn lead(&self) -> f32 {
        110.0
    }

    fn estimate(&self, game: &G, state: &G::State) -> i32 {
        G::position(state).score(&self.0, game.mover(state))
    }
}

/// A position as the features see it. Sets of points are bits, point `p` at bit `p`.
pub(crate) struct Position {
    /// All mills of the board.
    pub(crate) mills: &'static [u32],
    /// Neighbours of each point.
    pub(crate) near: &'static [u32],
    /// Pieces on the board.
    pub(crate) pieces: [u32; 2],
    /// Pieces yet to be placed.
    pub(crate) hands: [u8; 2],
}

/// Weights of the features, in hundredths of a piece; each feature is counted for the first side minus the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    /// Pieces on the board and in hand.
    pub piece: i32,
    /// Mills.
    pub mill: i32,
    /// Lines with two own pieces and an empty point.
    pub open_line: i32,
    /// Open lines that a third own piece next to the empty point closes by its move.
    pub threat: i32,
    /// Double mills: threats whose third piece stands in a mill, so that its move opens one mill and closes another.
    pub double_mill: i32,
    /// Empty points next to an own piece, counted for each piece.
    pub mobility: i32,
    /// Own pieces without an empty point next to them.
    pub blocked: i32,
    /// Bonus for the side to move.
    pub tempo: i32,
}

impl Position {
    /// The weighted features of the first side minus those of the second.
    pub(crate) fn score(&self, weights: &Weights, mover: Side) -> i32 {
        let tempo = if mover == Side::First { weights.tempo } else { -weights.tempo };
        self.side_score(weights, Side::First) - self.side_score(weights, Side::Second) + tempo
    }

    fn side_score(&self, weights: &Weights, side: Side) -> i32 {
        let (own, hand) = (self.pieces[side.index()], self.hands[side.index()]);
        let empty = !(self.pieces[0] | self.pieces[1]);
        let total = own.count_ones() as i32 + i32::from(hand);
        let in_mills = self.mills.iter().filter(|&&mill| own & mill == mill).fold(0, |set, mill| set | mill);
        let mut score = weights.piece * total;
        for &mill in self.mills {
            let line = own & mill;
            if line == mill {
                score += weights.mill;
            } else if line.count_ones() == 2 && empty & mill != 0 {
                score += weights.open_line;
                let third = self.near[(mill & !line).trailing_zeros() as usize] & own & !line;
                score += if third & in_mills != 0 {
                    weights.threat + weights.double_mill
                } else if third != 0 {
                    weights.threat
                } else {
                    0
                };
            }
        }
        let mut rest = own;
        while rest != 0 {
            let free = (self.near[rest.trailing_zeros() as usize] & empty).count_ones() as i32;
            score += weights.mobility * free - if free == 0 { weights.blocked } else { 0 };
            rest &= rest - 1;
        }
        score
    }
}

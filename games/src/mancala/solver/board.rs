//! Mancala's pits as two words, turned so that the mover sits first, and its rules on them.

use turnstone_env::Rules;
use turnstone_env::games::Mancala;
use turnstone_env::games::mancala::{EndRule, State};

/// The most pits that a row can have.
pub(super) const MAX_PITS: usize = 7;
/// A one in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The stones in the pits: pit `i` of a row, in its owner's sowing order, is byte `i`. The last byte is free.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Board {
    pub(super) own: u64,
    pub(super) other: u64,
}

impl Board {
    pub(super) fn of(game: &Mancala, state: &State) -> Self {
        let word = |side| game.row(state, side).iter().rev().fold(0, |word, &stones| word << 8 | u64::from(stones));
        let mover = game.mover(state);
        Self { own: word(mover), other: word(mover.other()) }
    }

    #[inline]
    pub(super) fn stones(self) -> i16 {
        row_stones(self.own) + row_stones(self.other)
    }

    #[inline]
    fn turned(self) -> Self {
        Self { own: self.other, other: self.own }
    }
}

/// In byte `i`, the stones in the pits up to `i`.
#[inline]
pub(super) fn sums(row: u64) -> u64 {
    row.wrapping_mul(ONES)
}

#[inline]
pub(super) fn row_stones(row: u64) -> i16 {
    (sums(row) >> 56) as i16
}

#[inline]
fn pit(row: u64, pit: usize) -> u64 {
    row >> (8 * pit) & 0xff
}

/// A ply and the position after it.
#[derive(Clone, Copy, Default)]
pub(super) struct Ply {
    pub(super) pit: u8,
    /// The position after the ply, from the view of the player to move there.
    pub(super) board: Board,
    /// Stones that came to the store of the player who sowed.
    pub(super) gain: i16,
    /// Whether the same player moves again.
    pub(super) again: bool,
}

/// The rules on boards.
pub(super) struct Sowing {
    pub(super) pits: usize,
    empty_capture: bool,
    end_rule: EndRule,
    /// `sown[pit][stones]`: what sowing these stones from this pit adds to both rows; the byte behind the own row is the
    /// store.
    sown: Vec<[[u64; 2]; 256]>,
}

impl Sowing {
    pub(super) fn of(game: &Mancala) -> Self {
        let pits = game.pits();
        let sown = (0..pits).map(|from| {
            let mut added = [[0; 2]; 256];
            for stones in 1..256 {
                let hole = (from + stones) % (2 * pits + 1);
                added[stones] = added[stones - 1];
                let (row, at) = if hole <= pits { (0, hole) } else { (1, hole - pits - 1) };
                added[stones][row] = u64::wrapping_add(added[stones][row], 1 << (8 * at));
            }
            added
        });
        Self { pits, empty_capture: game.empty_capture(), end_rule: game.end_rule(), sown: sown.collect() }
    }

    /// The mover's gain if the game is over: each side takes the stones left in its row.
    #[inline]
    pub(super) fn over(&self, board: Board) -> Option<i16> {
        let over = board.own == 0 || (board.other == 0 && self.end_rule == EndRule::EitherSideEmpty);
        over.then(|| row_stones(board.own) - row_stones(board.other))
    }

    /// Sows a pit that has stones.
    #[inline]
    pub(super) fn play(&self, board: Board, from: usize) -> Ply {
        let stones = pit(board.own, from) as usize;
        let [own, other] = self.sown[from][stones];
        let mut next = Board { own: board.own - ((stones as u64) << (8 * from)) + own, other: board.other + other };
        let lap = 2 * self.pits + 1;
        let mut last = from + stones;
        while last >= lap {
            last -= lap;
        }
        if last < self.pits && pit(next.own, last) == 1 {
            let opposite = self.pits - 1 - last;
            let taken = pit(next.other, opposite);
            if taken > 0 || self.empty_capture {
                next.other -= taken << (8 * opposite);
                // The store is the byte behind the row.
                next.own = next.own - (1 << (8 * last)) + ((taken + 1) << (8 * self.pits));
            }
        }
        let gain = pit(next.own, self.pits);
        next.own -= gain << (8 * self.pits);
        let again = last == self.pits;
        Ply { pit: from as u8, board: if again { next } else { next.turned() }, gain: gain as i16, again }
    }

    /// The plies of a position, those from the pits nearest to the store first.
    #[inline]
    pub(super) fn plies(&self, board: Board) -> impl Iterator<Item = Ply> + use<'_> {
        (0..self.pits).rev().filter(move |&from| pit(board.own, from) > 0).map(move |from| self.play(board, from))
    }
}

/// The parameters that the values of positions depend on.
pub(super) fn rules_params(game: &Mancala) -> turnstone_env::Params {
    let mut params = turnstone_env::Params::new();
    for (key, value) in game.params().iter().filter(|(key, _)| !["stones", "first_player"].contains(key)) {
        params = params.with(key, value);
    }
    params
}

//! A position as the mover sees it, and what can be said of it without search.

use std::cmp::Reverse;

use crate::game::{BOARD, BOTTOM, State, completing_cells, has_four, landings};

/// The score of a win with the `n`th disc is this minus `n`.
pub(super) const END: i32 = 43;

/// The second, fourth and sixth row.
const EVEN_ROWS: u64 = BOTTOM * 0b10_1010;
const CENTRE_FIRST: [usize; 7] = [3, 2, 4, 1, 5, 0, 6];

/// The discs of the mover, and those of both.
#[derive(Clone, Copy)]
pub(super) struct Position {
    own: u64,
    occupied: u64,
}

impl Position {
    pub(super) fn of(state: &State) -> Self {
        Self { own: state.discs[state.mover().index()], occupied: state.occupied() }
    }

    fn opponents(self) -> u64 {
        self.occupied ^ self.own
    }

    /// Number of discs on the board.
    pub(super) fn plies(self) -> i32 {
        self.occupied.count_ones() as i32
    }

    pub(super) fn after(self, landing: u64) -> Self {
        Self { own: self.opponents(), occupied: self.occupied | landing }
    }

    /// Own discs, and the bit above the discs of each column, which says how high it is: a different number below 2^49
    /// for every position, and never 0.
    pub(super) fn key(self) -> u64 {
        self.own | (self.occupied + BOTTOM)
    }

    /// The smaller key of the position and its mirror image.
    pub(super) fn mirror_key(self) -> u64 {
        self.key().min(mirrored(self.key()))
    }

    /// Whether play can lead to two positions that are mirror images of each other. Each would contain the discs of
    /// this position and of its mirror image, which must not differ anywhere.
    pub(super) fn leads_to_mirror_images(self) -> bool {
        self.own & mirrored(self.opponents()) == 0
    }

    /// Whether the mover wins with the next disc.
    pub(super) fn wins_at_once(self) -> bool {
        landings(self.occupied) & completing_cells(self.own, self.occupied) != 0
    }

    /// Landings that do not let the opponent win with the next disc. The mover has no win at once.
    pub(super) fn safe_landings(self) -> u64 {
        let threats = completing_cells(self.opponents(), self.occupied);
        let landings = landings(self.occupied);
        let safe = landings & !(threats >> 1);
        match landings & threats {
            0 => safe,
            forced if forced.is_power_of_two() => safe & forced,
            _ => 0, // two threats at once
        }
    }

    /// Bounds of the score where the mover neither wins with the next disc nor loses with the one after it.
    ///
    /// Neither player wins without a line that is free of the other's discs. If every column has an even number of
    /// discs once player 2 has moved, player 2 can always answer in the same column and gets every empty cell of the
    /// even rows, player 1 those of the odd rows (the rule *claimeven*: Allis, *A Knowledge-based Approach of
    /// Connect-Four*, 1988).
    pub(super) fn bounds(self) -> (i32, i32) {
        let plies = self.plies();
        let (mut lower, mut upper) = (plies + 4 - END, END - (plies + 3));
        let empty = BOARD & !self.occupied;
        if !has_four(self.own | empty) {
            upper = 0;
        }
        if !has_four(self.opponents() | empty) {
            lower = 0;
        }
        let is_first = plies % 2 == 0;
        let to_answer = landings(self.occupied) & EVEN_ROWS;
        let (first, second) = if is_first { (self.own, self.opponents()) } else { (self.opponents(), self.own) };
        if to_answer.count_ones() == u32::from(!is_first) && !has_four(first | empty & !EVEN_ROWS) {
            let score = i32::from(has_four(second | empty & EVEN_ROWS));
            if is_first {
                upper = upper.min(-score);
            } else {
                lower = lower.max(score);
            }
        }
        (lower, upper)
    }

    /// The landings, those that make most threats first, and of these the more central.
    pub(super) fn ordered(self, landings: u64) -> impl Iterator<Item = u64> + Clone {
        let mut order = CENTRE_FIRST.map(|column| {
            let landing = landings & 0b11_1111 << (7 * column);
            (completing_cells(self.own | landing, self.occupied).count_ones(), landing)
        });
        order.sort_by_key(|&(threats, _)| Reverse(threats));
        order.into_iter().map(|(_, landing)| landing).filter(|&landing| landing != 0)
    }
}

/// The mirror image of a board, left and right exchanged.
fn mirrored(board: u64) -> u64 {
    (0..7).fold(0, |image, column| image | (board >> (7 * column) & 0b111_1111) << (7 * (6 - column)))
}

//! Transposition table with bounds of gains, of a fixed size.

use super::board::Board;

/// Bounds of the mover's gain, and the pit that proved the latest of them.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry {
    board: Board,
    pub(super) lower: i16,
    pub(super) upper: i16,
    pub(super) best: u8,
}

/// Buckets of two entries: one for the position with more stones, whose search was larger, one for the latest. The whole
/// position is kept, so no two are ever taken for each other.
pub(super) struct Table {
    buckets: Vec<[Entry; 2]>,
    shift: u32,
}

impl Table {
    pub(super) fn new(entries: usize) -> Self {
        let buckets = (entries / 2).max(2).next_power_of_two();
        Self { buckets: vec![[Entry::default(); 2]; buckets], shift: 64 - buckets.trailing_zeros() }
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.buckets.fill([Entry::default(); 2]);
    }

    #[inline]
    fn bucket(&self, board: Board) -> usize {
        let mixed = board.own.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ board.other.rotate_left(32);
        (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) as usize >> self.shift
    }

    #[inline]
    pub(super) fn get(&self, board: Board) -> Option<Entry> {
        self.buckets[self.bucket(board)].into_iter().find(|entry| entry.board == board)
    }

    #[inline]
    pub(super) fn put(&mut self, board: Board, lower: i16, upper: i16, best: u8) {
        let at = self.bucket(board);
        let [large, latest] = &mut self.buckets[at];
        let place = if large.board == board || large.board.stones() <= board.stones() { large } else { latest };
        *place = Entry { board, lower, upper, best };
    }
}

//! Transposition table with bounds of gains.

use super::board::Board;
use turnstone_exact::shared_table::{SharedTable, Words};

/// Bounds of the mover's gain, and the pit that proved the latest of them.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) lower: i16,
    pub(super) upper: i16,
    pub(super) best: Option<u8>,
}

impl Entry {
    /// Both bounds of a known gain.
    #[inline]
    pub(super) fn of(gain: i16) -> Self {
        Self { lower: gain, upper: gain, best: None }
    }

    /// Bounds from the number of stones.
    #[inline]
    pub(super) fn trivial(board: Board) -> Self {
        let stones = board.stones();
        Self { lower: -stones, upper: stones, best: None }
    }

    /// The bounds as a word, which is never 0.
    #[inline]
    fn word(self) -> u64 {
        let best = self.best.map_or(0xff, u64::from);
        u64::from(self.lower as u16) | u64::from(self.upper as u16) << 16 | best << 32 | 1 << 40
    }

    #[inline]
    fn of_word(word: u64) -> Self {
        let best = (word >> 32) as u8;
        Self { lower: word as i16, upper: (word >> 16) as i16, best: (best != 0xff).then_some(best) }
    }
}

/// The table, by boards.
pub(super) struct Table(SharedTable);

impl Table {
    pub(super) fn new(entries: usize) -> Self {
        Self(SharedTable::new(entries, 0))
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Where the entry of a board is.
    #[inline]
    pub(super) fn place(&self, board: Board) -> usize {
        self.0.place(&[board.own, board.other, 0])
    }

    /// Reads a word of an entry; see [`prefetch`](turnstone_exact::shared_table::prefetch).
    #[inline]
    pub(super) fn touch(&self, place: usize) -> u64 {
        self.0.touch(place)
    }

    /// The entry of a board, at its place.
    #[inline]
    pub(super) fn get(&self, board: Board, place: usize) -> Option<Entry> {
        let [.., word] = self.0.get(place, &[board.own, board.other, 0])?;
        // No board of a running game equals that of an empty entry, but a query may ask for one that is over.
        (word != 0).then(|| Entry::of_word(word))
    }

    #[inline]
    pub(super) fn put(&self, board: Board, entry: Entry) {
        let weight = |words: &Words| Board { own: words[0], other: words[1] }.stones() as u32;
        self.0.put(&[board.own, board.other, entry.word()], weight);
    }
}

//! Transposition table of positions with a known winner.

use super::reduce::Reduced;
use turnstone_exact::shared_table::{SharedTable, Words};

/// The bit of an entry's third word that says whether the mover wins; the others belong to the key.
const WINS: u64 = 1;

/// The table, by reduced positions.
pub(super) struct Table(SharedTable);

impl Table {
    pub(super) fn new(entries: usize) -> Self {
        Self(SharedTable::new(entries, !WINS))
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Where the entry of a position is.
    #[inline]
    pub(super) fn place(&self, reduced: &Reduced) -> usize {
        self.0.place(&reduced.words())
    }

    /// Reads a word of an entry; see [`prefetch`](turnstone_exact::shared_table::prefetch).
    #[inline]
    pub(super) fn touch(&self, place: usize) -> u64 {
        self.0.touch(place)
    }

    /// Whether the mover wins, of the position whose place it is.
    #[inline]
    pub(super) fn get(&self, place: usize, reduced: &Reduced) -> Option<bool> {
        self.0.get(place, &reduced.words()).map(|[.., word]| word & WINS != 0)
    }

    #[inline]
    pub(super) fn put(&self, reduced: &Reduced, wins: bool) {
        let [cells, stones, word] = reduced.words();
        self.0.put(&[cells, stones, word | u64::from(wins)], |words: &Words| words[1].count_ones());
    }
}

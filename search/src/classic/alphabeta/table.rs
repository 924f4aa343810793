//! The table of positions already searched, by one thread or several.

use std::hash::Hash;

use super::buckets::{Buckets, Entry, Stored};
use crate::hash::hash;

/// Positions and what is known of them, in a fixed number of buckets of two entries. The whole state is compared, so no
/// collision of hashes can bring a wrong score or an illegal action, and states hold all counters that can end a game,
/// so a score does not depend on the path by which its position was reached.
///
/// Searches of several threads can share one: it is cleared, and a search begun in it, by the one that it was made for.
#[derive(Debug)]
pub(super) struct TranspositionTable<S> {
    buckets: Buckets<S>,
    /// Whether it was made for another search.
    takes_part: bool,
}

impl<S: Copy + Eq + Hash> TranspositionTable<S> {
    /// The largest table of at most `bytes` bytes whose number of buckets is a power of two, at least one; smaller if the
    /// memory cannot be had. `filler` is any state.
    pub(super) fn new(bytes: usize, filler: S) -> Self {
        Self { buckets: Buckets::new(bytes, filler), takes_part: false }
    }

    /// The same table for a search of another thread.
    pub(super) fn share(&mut self) -> Self {
        Self { buckets: self.buckets.share(), takes_part: true }
    }

    /// Removes all entries; free of cost if the table is empty.
    pub(super) fn clear(&mut self) {
        if !self.takes_part && self.buckets.generation() > 0 {
            for index in 0..self.buckets.len() {
                self.buckets.with(index, |bucket| bucket.iter_mut().for_each(|entry| entry.generation = 0));
            }
            self.buckets.set_generation(0);
        }
    }

    /// A new search begins: entries of earlier ones are the first to go.
    pub(super) fn begin(&mut self) {
        if !self.takes_part {
            let next = if self.buckets.generation() == u8::MAX { 1 } else { self.buckets.generation() + 1 };
            self.buckets.set_generation(next);
        }
    }

    #[inline]
    pub(super) fn probe(&mut self, state: &S) -> Option<Stored> {
        let index = self.index(state);
        self.buckets.with(index, |bucket| {
            bucket.iter().find(|entry| entry.generation != 0 && entry.state == *state).map(|entry| entry.known)
        })
    }

    /// Stores in the place of the same state, or else of an earlier search's entry, or else of the shallower one.
    #[inline]
    pub(super) fn store(&mut self, state: &S, known: Stored) {
        let (index, generation) = (self.index(state), self.buckets.generation());
        let value = |entry: &Entry<S>| match entry.generation {
            0 => 0,
            _ if entry.state == *state => 0,
            old if old != generation => 1 + u32::from(entry.known.depth),
            _ => 0x200 + u32::from(entry.known.depth),
        };
        self.buckets.with(index, |[a, b]| {
            let place = if value(b) <= value(a) { b } else { a };
            *place = Entry { state: *state, known, generation };
        });
    }

    #[inline]
    fn index(&self, state: &S) -> usize {
        hash(state) as usize & (self.buckets.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use turnstone_env::Action;

    use super::super::buckets::Bound;
    use super::*;

    fn known(depth: u8) -> Stored {
        Stored { score: i32::from(depth), bound: Bound::Exact, action: Action(7), depth, complete: false }
    }

    #[test]
    fn deep_entries_stay_and_old_ones_go() {
        let mut table = TranspositionTable::new(0, 0u32); // one bucket: every state collides
        table.begin();
        for (state, depth) in [(1, 9), (2, 3), (3, 4), (4, 1)] {
            table.store(&state, known(depth));
            assert_eq!(table.probe(&state).map(|known| known.depth), Some(depth));
        }
        assert!(table.probe(&1).is_some() && table.probe(&2).is_none() && table.probe(&3).is_none());
        table.begin();
        table.store(&5, known(2));
        assert!(table.probe(&1).is_some() && table.probe(&4).is_none());
        table.store(&6, known(1));
        assert!(table.probe(&1).is_none() && table.probe(&5).is_some() && table.probe(&6).is_some());
        table.store(&5, known(8));
        assert_eq!(table.probe(&5).map(|known| known.depth), Some(8));
        table.clear();
        assert!((0..9).all(|state| table.probe(&state).is_none()));
    }

    #[test]
    fn a_table_keeps_to_its_memory() {
        let table = TranspositionTable::new(1 << 20, [0u8; 16]);
        let bytes = table.buckets.len() * size_of::<[Entry<[u8; 16]>; 2]>();
        assert!((1 << 19..=1 << 20).contains(&bytes), "{bytes}");
    }

    #[test]
    fn hashes_of_neighbours_spread() {
        let table = TranspositionTable::new(1 << 16, 0u64);
        let mut used = vec![0u32; table.buckets.len()];
        (0..used.len() as u64).for_each(|n| used[table.index(&n)] += 1);
        // As many balls as boxes: 37 % of the boxes stay empty, and the fullest box is small.
        let empty = used.iter().filter(|&&n| n == 0).count() as f64 / used.len() as f64;
        assert!((0.3..0.42).contains(&empty) && used.iter().all(|&n| n < 10), "{empty}");
    }

    #[test]
    fn threads_store_and_find_in_one_table() {
        const EACH: u32 = if cfg!(miri) { 100 } else { 20_000 };
        let mut table = TranspositionTable::new(1 << 12, [0u32; 8]);
        table.begin();
        let mut others = [table.share(), table.share()];
        // An entry that two threads wrote at once would have a state of unequal parts, or a score that is not its state's.
        let work = |table: &mut TranspositionTable<[u32; 8]>, step: u32| {
            for n in 0..EACH {
                let n = n.wrapping_mul(step) % 1000;
                table.store(&[n; 8], Stored { score: n as i32, ..known(n as u8) });
                let found = table.probe(&[n.wrapping_add(1) % 1000; 8]);
                assert!(found.is_none_or(|found| found.score as u32 == n.wrapping_add(1) % 1000));
            }
        };
        std::thread::scope(|scope| {
            for (other, step) in others.iter_mut().zip([7, 11]) {
                scope.spawn(move || work(other, step));
            }
            work(&mut table, 1);
        });
        assert!((0..1000).any(|n| table.probe(&[n; 8]).is_some()));
        others[0].begin();
        others[0].clear();
        assert!((0..1000).any(|n| others[1].probe(&[n; 8]).is_some()), "it is not theirs to clear");
        table.clear();
        assert!((0..1000).all(|n| others[1].probe(&[n; 8]).is_none()));
    }
}

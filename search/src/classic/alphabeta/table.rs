//! The table of positions already searched.

use std::hash::Hash;

use turnstone_env::Action;

use crate::hash::hash;

/// The kind of bound on the true score that a stored score is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    /// It is the true score.
    Exact,
    /// The true score is as great or greater.
    Lower,
    /// The true score is as small or smaller.
    Upper,
}

/// What is known of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Score for the first side; wins are counted from the position itself, not from the root.
    pub(super) score: i32,
    pub(super) bound: Bound,
    /// The action that was best or caused the cutoff.
    pub(super) action: Action,
    /// Plies that were searched below the position.
    pub(super) depth: u8,
    /// No static estimate had a part in the score: it holds for every greater depth too.
    pub(super) complete: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry<S> {
    state: S,
    known: Known,
    /// The search that stored it; 0 in an entry never used.
    generation: u8,
}

/// Positions and what is known of them, in a fixed number of buckets of two entries. The whole state is compared, so no
/// collision of hashes can bring a wrong score or an illegal action, and states hold all counters that can end a game,
/// so a score does not depend on the path by which its position was reached.
#[derive(Clone, Debug)]
pub(super) struct Table<S> {
    buckets: Vec<[Entry<S>; 2]>,
    /// The current search; 0 before the first.
    generation: u8,
}

impl<S: Copy + Eq + Hash> Table<S> {
    /// The largest table of at most `bytes` bytes whose number of buckets is a power of two, at least one; smaller if the
    /// memory cannot be had. `filler` is any state.
    pub(super) fn new(bytes: usize, filler: S) -> Self {
        let known = Known { score: 0, bound: Bound::Exact, action: Action(0), depth: 0, complete: false };
        let bucket = [Entry { state: filler, known, generation: 0 }; 2];
        let most = (bytes / size_of_val(&bucket)).max(1);
        let (mut buckets, mut count) = (Vec::new(), 1_usize << most.ilog2());
        while count > 1 && buckets.try_reserve_exact(count).is_err() {
            count /= 2;
        }
        buckets.resize(count, bucket);
        Self { buckets, generation: 0 }
    }

    /// Removes all entries; free of cost if the table is empty.
    pub(super) fn clear(&mut self) {
        if self.generation > 0 {
            self.buckets.as_flattened_mut().iter_mut().for_each(|entry| entry.generation = 0);
            self.generation = 0;
        }
    }

    /// A new search begins: entries of earlier ones are the first to go.
    pub(super) fn begin(&mut self) {
        self.generation = if self.generation == u8::MAX { 1 } else { self.generation + 1 };
    }

    #[inline]
    pub(super) fn probe(&self, state: &S) -> Option<Known> {
        let bucket = &self.buckets[self.index(state)];
        bucket.iter().find(|entry| entry.generation != 0 && entry.state == *state).map(|entry| entry.known)
    }

    /// Stores in the place of the same state, or else of an earlier search's entry, or else of the shallower one.
    #[inline]
    pub(super) fn store(&mut self, state: &S, known: Known) {
        let (index, generation) = (self.index(state), self.generation);
        let value = |entry: &Entry<S>| match entry.generation {
            0 => 0,
            _ if entry.state == *state => 0,
            old if old != generation => 1 + u32::from(entry.known.depth),
            _ => 0x200 + u32::from(entry.known.depth),
        };
        let [a, b] = &mut self.buckets[index];
        let place = if value(b) <= value(a) { b } else { a };
        *place = Entry { state: *state, known, generation };
    }

    #[inline]
    fn index(&self, state: &S) -> usize {
        hash(state) as usize & (self.buckets.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(depth: u8) -> Known {
        Known { score: i32::from(depth), bound: Bound::Exact, action: Action(7), depth, complete: false }
    }

    #[test]
    fn deep_entries_stay_and_old_ones_go() {
        let mut table = Table::new(0, 0u32); // one bucket: every state collides
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
        let table = Table::new(1 << 20, [0u8; 16]);
        let bytes = size_of_val(&*table.buckets);
        assert!((1 << 19..=1 << 20).contains(&bytes), "{bytes}");
    }

    #[test]
    fn hashes_of_neighbours_spread() {
        let table = Table::new(1 << 16, 0u64);
        let mut used = vec![0u32; table.buckets.len()];
        (0..used.len() as u64).for_each(|n| used[table.index(&n)] += 1);
        // As many balls as boxes: 37 % of the boxes stay empty, and the fullest box is small.
        let empty = used.iter().filter(|&&n| n == 0).count() as f64 / used.len() as f64;
        assert!((0.3..0.42).contains(&empty) && used.iter().all(|&n| n < 10), "{empty}");
    }
}

//! Transposition table of positions with a known winner, of a fixed size.

use turnstone_env::Side;

use super::board::{Cells, Position};
use super::reduce::Reduced;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Key {
    cells: Cells,
    stones: Cells,
    free: i16,
    mover: u8,
}

impl Key {
    #[inline]
    fn of(position: &Position) -> Self {
        let Position { cells, stones, mover, free } = *position;
        Self { cells, stones, free: free as i16, mover: mover.number() }
    }
}

/// Buckets of two entries: one for the position with more stones, whose search was larger, one for the latest. The whole
/// position is kept, so no two are ever taken for each other.
pub(super) struct Table {
    buckets: Vec<[(Key, bool); 2]>,
    shift: u32,
}

impl Table {
    pub(super) fn new(entries: usize) -> Self {
        let buckets = (entries / 2).max(2).next_power_of_two();
        Self { buckets: vec![[(Key::default(), false); 2]; buckets], shift: 64 - buckets.trailing_zeros() }
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.buckets.fill([(Key::default(), false); 2]);
    }

    #[inline]
    fn bucket(&self, key: &Key) -> usize {
        let rest = (key.free as u64) << 8 | u64::from(key.mover);
        let mixed = key.stones.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key.cells.rotate_left(32) ^ rest;
        (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) as usize >> self.shift
    }

    #[inline]
    pub(super) fn get(&self, reduced: &Reduced) -> Option<bool> {
        let key = Key::of(&reduced.position);
        self.buckets[self.bucket(&key)].iter().find(|(known, _)| *known == key).map(|&(_, wins)| wins)
    }

    #[inline]
    pub(super) fn put(&mut self, reduced: &Reduced, wins: bool) {
        let key = Key::of(&reduced.position);
        let at = self.bucket(&key);
        let [large, latest] = &mut self.buckets[at];
        let place =
            if large.0 == key || large.0.stones.count_ones() <= key.stones.count_ones() { large } else { latest };
        *place = (key, wins);
    }
}

const _: () = assert!(Side::First.number() != 0, "no position has the key of an empty entry");

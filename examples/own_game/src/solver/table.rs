//! The transposition table: bounds of scores in entries of eight bytes.

use super::position::END;

/// Bits of a key.
const KEY_BITS: u32 = 49;
/// Bits of a score, stored as its distance from the lowest one.
const SCORE_BITS: u32 = 7;

/// Bounds of the scores of positions, one entry per slot; the latest stays.
///
/// A shift and a multiplication scatter the keys. Both are bijections of the numbers of 49 bits: with the upper bits of
/// the product as the slot, the lower ones identify the position. What is left of an entry says in which search it was
/// written, so that a search begins with an empty table without erasing it.
///
/// ```text
/// | search: 1 + slot bits | rest of the key: 49 - slot bits | lower bound: 7 | upper bound: 7 |
/// ```
pub(super) struct Table {
    entries: Vec<u64>,
    slot_bits: u32,
    search: u64,
}

impl Table {
    /// A table of this number of entries, rounded up to a power of two.
    pub(super) fn new(entries: usize) -> Self {
        let entries = vec![0; entries.next_power_of_two()];
        Self { slot_bits: entries.len().trailing_zeros(), entries, search: 1 }
    }

    /// Forgets all bounds.
    pub(super) fn clear(&mut self) {
        self.search += 1;
        if self.search >> (1 + self.slot_bits) != 0 {
            self.entries.fill(0);
            self.search = 1;
        }
    }

    /// The slot of a key, and an entry with its bounds left out.
    fn slot(&self, key: u64) -> (usize, u64) {
        let scattered = (key ^ key >> 25).wrapping_mul(0x9E37_79B9_7F4A_7C15) & ((1 << KEY_BITS) - 1);
        let rest_bits = KEY_BITS - self.slot_bits;
        let rest = scattered & ((1 << rest_bits) - 1);
        ((scattered >> rest_bits) as usize, (self.search << rest_bits | rest) << (2 * SCORE_BITS))
    }

    /// Lower and upper bound of the score of the position with this key.
    pub(super) fn get(&self, key: u64) -> Option<(i32, i32)> {
        let (slot, tag) = self.slot(key);
        let found = self.entries[slot] ^ tag;
        let score = |bits: u64| bits as i32 - END;
        let is_here = found >> (2 * SCORE_BITS) == 0;
        is_here.then(|| (score(found >> SCORE_BITS), score(found & ((1 << SCORE_BITS) - 1))))
    }

    pub(super) fn put(&mut self, key: u64, lower: i32, upper: i32) {
        let (slot, tag) = self.slot(key);
        let bits = |score: i32| (score + END) as u64;
        self.entries[slot] = tag | bits(lower) << SCORE_BITS | bits(upper);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys whose bits are spread over all 49.
    fn keys() -> impl Iterator<Item = u64> {
        (1..2000_u64).map(|i| i.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 15)
    }

    #[test]
    fn what_is_found_was_put_there() {
        for entries in [1, 2, 100, 1 << 16] {
            let mut table = Table::new(entries);
            let mut found = 0;
            for (key, i) in keys().zip(0..) {
                table.put(key, i % 87 - 43, i % 44);
                assert_eq!(table.get(key), Some((i % 87 - 43, i % 44)));
            }
            for (key, i) in keys().zip(0..) {
                let bounds = table.get(key);
                assert!(bounds.is_none() || bounds == Some((i % 87 - 43, i % 44)), "key {key} of {entries} entries");
                found += usize::from(bounds.is_some());
            }
            assert!(found > 0 && found <= table.entries.len(), "{found} of {entries}");
            assert!(entries < 1 << 16 || found > 1900, "{found} left");
        }
    }

    #[test]
    fn a_cleared_table_is_empty_however_often_it_was_cleared() {
        for entries in [1, 2, 16] {
            let mut table = Table::new(entries);
            for _ in 0..100 {
                keys().for_each(|key| table.put(key, -1, 1));
                table.clear();
                assert!(keys().all(|key| table.get(key).is_none()), "{entries} entries");
            }
        }
    }
}

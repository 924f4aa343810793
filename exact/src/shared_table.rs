//! A transposition table of fixed size that threads share without locks.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// An entry: three words. The caller decides which bits of the third belong to the key.
pub type Words = [u64; 3];

/// Two entries in one cache line, guarded by a version that is odd while a thread writes.
#[repr(align(64))]
#[derive(Default)]
struct Bucket {
    version: AtomicU64,
    words: [AtomicU64; 6],
}

/// Buckets of two entries: one for the position of the greater weight, whose search was larger, one for the latest. An entry
/// holds the whole position, so that two positions are never confused. A reader that coincides with a writer finds nothing.
pub struct SharedTable {
    buckets: Vec<Bucket>,
    shift: u32,
    /// The bits of the third word that belong to the key.
    key_bits: u64,
}

impl SharedTable {
    /// A table of about `entries` entries, 32 bytes each.
    #[must_use]
    pub fn new(entries: usize, key_bits: u64) -> Self {
        let buckets = (entries / 2).max(2).next_power_of_two();
        let shift = 64 - buckets.trailing_zeros();
        Self { buckets: (0..buckets).map(|_| Bucket::default()).collect(), shift, key_bits }
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.buckets.iter_mut().for_each(|bucket| *bucket = Bucket::default());
    }

    /// Index of the bucket of a key.
    #[must_use]
    #[inline]
    pub fn place(&self, key: &Words) -> usize {
        hash(key[0], key[1] ^ (key[2] & self.key_bits) << 7) as usize >> self.shift
    }

    /// Reads a word of a bucket; see [`prefetch`].
    #[must_use]
    #[inline]
    pub fn touch(&self, place: usize) -> u64 {
        self.buckets[place].version.load(Ordering::Relaxed)
    }

    /// The entry of a key in its bucket; the other bits of its third word are ignored.
    #[must_use]
    #[inline]
    pub fn get(&self, place: usize, key: &Words) -> Option<Words> {
        let bucket = &self.buckets[place];
        let version = bucket.version.load(Ordering::Acquire);
        let words: [u64; 6] = std::array::from_fn(|at| bucket.words[at].load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        let whole = version & 1 == 0 && bucket.version.load(Ordering::Relaxed) == version;
        let [first, second] = entries(words);
        if !whole {
            None
        } else if self.same(&first, key) {
            Some(first)
        } else {
            self.same(&second, key).then_some(second)
        }
    }

    /// Stores an entry, unless another thread writes into its bucket.
    #[inline]
    pub fn put(&self, entry: &Words, weight: impl Fn(&Words) -> u32) {
        let bucket = &self.buckets[self.place(entry)];
        let version = bucket.version.load(Ordering::Relaxed);
        let locked = version & 1 == 0
            && bucket.version.compare_exchange(version, version + 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if !locked {
            return;
        }
        fence(Ordering::Release);
        let words: [u64; 6] = std::array::from_fn(|at| bucket.words[at].load(Ordering::Relaxed));
        let [large, latest] = entries(words);
        let first = self.same(&large, entry) || (!self.same(&latest, entry) && weight(&large) <= weight(entry));
        for (at, &word) in entry.iter().enumerate() {
            bucket.words[if first { at } else { 3 + at }].store(word, Ordering::Relaxed);
        }
        bucket.version.store(version + 2, Ordering::Release);
    }

    #[inline]
    fn same(&self, entry: &Words, key: &Words) -> bool {
        entry[0] == key[0] && entry[1] == key[1] && (entry[2] ^ key[2]) & self.key_bits == 0
    }
}

/// Reads all of these words, so that their cache lines are loaded at the same time: a search that reads several entries one
/// by one spends most of its time waiting for memory.
#[inline]
pub fn prefetch(touched: impl Iterator<Item = u64>) {
    black_box(touched.fold(0, |all, word| all ^ word));
}

#[inline]
fn entries(words: [u64; 6]) -> [Words; 2] {
    let [a, b, c, d, e, f] = words;
    [[a, b, c], [d, e, f]]
}

/// A number that depends on all bits of both words.
#[must_use]
#[inline]
pub fn hash(first: u64, second: u64) -> u64 {
    let mixed = first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ second.rotate_left(32);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The third word of an entry whose first is `n`, which no other entry has.
    fn check(n: u64) -> u64 {
        hash(n, 17) | 1
    }

    fn find(table: &SharedTable, key: &Words) -> Option<Words> {
        table.get(table.place(key), key)
    }

    #[test]
    fn threads_never_read_an_entry_that_was_not_written() {
        let table = SharedTable::new(4, 0);
        let work = |thread: u64| {
            let mut found = 0;
            for round in 0..200_000_u64 {
                let n = hash(round, thread) % 64 + 1;
                if let Some(entry) = find(&table, &[n, n * n, 0]) {
                    assert_eq!(entry, [n, n * n, check(n)]);
                    found += 1;
                }
                table.put(&[n, n * n, check(n)], |entry| entry[0] as u32);
            }
            found
        };
        let found: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|thread| scope.spawn(move || work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("it does not panic")).sum()
        });
        assert!(found > 1000, "{found}");
    }

    #[test]
    fn the_heavier_entry_stays_and_key_bits_tell_entries_apart() {
        let mut table = SharedTable::new(1, 0xff);
        let entries: Vec<Words> = (1..40).map(|n| [n, 3, (0x100 * n) | (n % 2)]).collect();
        entries.iter().for_each(|entry| table.put(entry, |entry| entry[0] as u32));
        assert_eq!(find(&table, &[39, 3, 1]), Some([39, 3, 0x2701]));
        assert_eq!(find(&table, &[39, 3, 0]), None);
        assert!(entries.iter().filter(|entry| find(&table, entry).is_some()).count() <= 4);
        table.put(&[1, 3, 1], |entry| entry[0] as u32);
        assert!(find(&table, &[39, 3, 1]).is_some() || find(&table, &[38, 3, 0]).is_some(), "a heavy entry was lost");
        table.clear();
        assert!(entries.iter().all(|entry| find(&table, entry).is_none()));
    }
}

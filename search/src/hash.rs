//! One fast hash of states, for the tables of this crate.

use std::hash::{Hash, Hasher};

/// The hash of a state, the same in every process.
#[inline]
pub fn hash<S: Hash>(state: &S) -> u64 {
    let mut hasher = Folding::default();
    state.hash(&mut hasher);
    hasher.finish()
}

/// A hash by folded multiplication (the two halves of a 128-bit product, one on the other), as in wyhash and foldhash: a
/// few multiplications for a state, against some 30 ns for the standard library's hash, which resists attackers.
#[derive(Clone, Copy, Debug)]
struct Folding(u64);

impl Default for Folding {
    fn default() -> Self {
        Self(0x243f_6a88_85a3_08d3)
    }
}

impl Folding {
    #[inline]
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for Folding {
    #[inline]
    fn finish(&self) -> u64 {
        let mut last = *self;
        last.fold(0x1319_8a2e_0370_7344);
        last.0
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|&word| self.fold(u64::from_le_bytes(word)));
        if !rest.is_empty() {
            self.fold(rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
    }

    #[inline]
    fn write_u8(&mut self, n: u8) {
        self.fold(n.into());
    }

    #[inline]
    fn write_u16(&mut self, n: u16) {
        self.fold(n.into());
    }

    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.fold(n.into());
    }

    #[inline]
    fn write_u64(&mut self, n: u64) {
        self.fold(n);
    }

    #[inline]
    fn write_usize(&mut self, n: usize) {
        self.fold(n as u64);
    }
}

//! Sowing by whole rows, captures, and the collection at the end.

use super::state::{HOLES, MAX_PITS, Mancala, State};
use crate::side::Side;

/// For each number of pits less one, for each pit and for each number of stones up to a lap: how many stones fall into each
/// hole when they are sown from there, as the bytes of a word, that of hole 0 lowest.
static FALLS: [[[u128; HOLES]; HOLES]; MAX_PITS as usize] = {
    let mut falls = [[[0; HOLES]; HOLES]; MAX_PITS as usize];
    let mut pits = 1;
    while pits <= MAX_PITS as usize {
        let (stores, holes) = ([pits, 2 * pits + 1], 2 * pits + 2);
        let mut start = 0;
        while start < stores[1] {
            let skipped = stores[(start < pits) as usize];
            let (mut stone, mut hole) = (1, (start + 1) % holes);
            while start != stores[0] && stone < holes {
                if hole != skipped {
                    falls[pits - 1][start][stone] = falls[pits - 1][start][stone - 1] + byte(hole, 1);
                    stone += 1;
                }
                hole = (hole + 1) % holes;
            }
            start += 1;
        }
        pits += 1;
    }
    falls
};

/// A word with the value in the byte of a hole.
#[inline]
const fn byte(hole: usize, value: u8) -> u128 {
    (value as u128) << (8 * hole)
}

impl Mancala {
    /// Sows the stones of `hole`, a pit of the mover, and returns the hole of the last stone, counted on beyond the mover's
    /// store where it is the opponent's.
    #[inline]
    pub(super) fn sow(&self, state: &mut State, hole: usize) -> usize {
        let lap = 2 * self.pits + 1;
        let stones = state.holes[hole];
        let (laps, rest) = if stones < lap { (0, stones) } else { (stones / lap, stones % lap) };
        let falls = &FALLS[self.pits() - 1][hole];
        // No hole overflows into the next one, as there are at most 255 stones.
        let kept = u128::from_le_bytes(state.holes) & !byte(hole, u8::MAX);
        let mut sown = kept + falls[usize::from(rest)];
        if laps > 0 {
            sown += falls[usize::from(lap)] * u128::from(laps);
        }
        state.holes = sown.to_le_bytes();
        let first = self.first_hole(state.mover);
        let reach = hole - first + usize::from(rest);
        first + if reach < usize::from(lap) { reach } else { reach - usize::from(lap) }
    }

    /// Takes the last stone and the opposite pit, if it fell into an empty pit of the mover; `last` is what
    /// [`Mancala::sow`] returned.
    #[inline]
    pub(super) fn capture(&self, state: &mut State, last: usize) {
        let store = self.store_hole(state.mover);
        // Any hole, unless `last` is a pit of the mover.
        let opposite = (2 * self.pits()).wrapping_sub(last) % HOLES;
        let alone = state.holes[last % HOLES] == 1;
        if (last < store) & alone & (self.empty_capture | (state.holes[opposite] > 0)) {
            state.holes[store] += 1 + state.holes[opposite];
            state.holes[last] = 0;
            state.holes[opposite] = 0;
        }
    }

    /// If the game is over, moves each side's remaining stones to its store.
    #[inline]
    pub(super) fn finish(&self, state: &mut State) {
        if !self.is_over(state) {
            return;
        }
        for side in Side::BOTH {
            let (first, store) = (self.first_hole(side), self.store_hole(side));
            for hole in first..store {
                state.holes[store] += std::mem::take(&mut state.holes[hole]);
            }
        }
    }
}

//! What happens to the stones of an action: sowing by whole rows, captures, and the collection at the end.

use super::state::{HOLES, MAX_PITS, Mancala, State};
use crate::side::Side;

/// For each number of pits less one and for each pit, by hole: the stone that falls first into each hole when sowing from
/// there, counted from 1. 255 for a store that is skipped and for holes that the board does not have.
static REACHED_BY: [[[u8; HOLES]; HOLES]; MAX_PITS as usize] = {
    let mut table = [[[u8::MAX; HOLES]; HOLES]; MAX_PITS as usize];
    let mut pits = 1;
    while pits <= MAX_PITS as usize {
        let (stores, holes) = ([pits, 2 * pits + 1], 2 * pits + 2);
        let mut start = 0;
        while start < 2 * pits + 1 {
            let skipped = stores[(start < pits) as usize];
            let (mut stone, mut hole) = (1, (start + 1) % holes);
            while start != stores[0] && stone < holes {
                if hole != skipped {
                    table[pits - 1][start][hole] = stone as u8;
                    stone += 1;
                }
                hole = (hole + 1) % holes;
            }
            start += 1;
        }
        pits += 1;
    }
    table
};

impl Mancala {
    /// Sows the stones of `hole`, a pit of the mover, and returns the hole of the last stone if it is the mover's too.
    #[inline]
    pub(super) fn sow(&self, state: &mut State, hole: usize) -> Option<usize> {
        let lap = 2 * self.pits + 1;
        let stones = state.holes[hole];
        let (laps, rest) = if stones < lap { (0, stones) } else { (stones / lap, stones % lap) };
        let reached_by = &REACHED_BY[self.pits() - 1][hole];
        // The pit itself, last of a lap, is emptied in the same loop, which the compiler turns into vector operations: a
        // single byte written just before would make them wait.
        for (count, &stone) in state.holes.iter_mut().zip(reached_by) {
            let kept = if stone == lap { 0 } else { *count };
            *count = kept + u8::from(stone <= rest);
        }
        if laps > 0 {
            for (count, &stone) in state.holes.iter_mut().zip(reached_by) {
                *count += if stone == u8::MAX { 0 } else { laps };
            }
        }
        let first = self.first_hole(state.mover);
        match hole - first + usize::from(rest) {
            reach if reach <= self.pits() => Some(first + reach),
            reach if reach < usize::from(lap) => None,
            reach => Some(first + reach - usize::from(lap)),
        }
    }

    /// Takes the last stone and the opposite pit, if it fell into an empty pit; `last` is a pit of the mover.
    #[inline]
    pub(super) fn capture(&self, state: &mut State, last: usize) {
        let opposite = 2 * self.pits() - last;
        if state.holes[last] == 1 && (self.empty_capture || state.holes[opposite] > 0) {
            state.holes[self.store_hole(state.mover)] += 1 + state.holes[opposite];
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

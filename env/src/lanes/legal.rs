//! The legal actions of neighbouring envs: as sets, which answer whether an action is legal, and as lists.

use std::ops::Range;

use rand::Rng;

use crate::action::{Action, ActionList};
use crate::playout::{choose, choose_index};

/// The mask of eight actions for each set of them.
static MASKS: [[bool; 8]; 256] = {
    let mut masks = [[false; 8]; 256];
    let mut i = 0;
    while i < 8 * 256 {
        masks[i / 8][i % 8] = (i / 8) >> (i % 8) & 1 == 1;
        i += 1;
    }
    masks
};

/// The actions of each set of eight in increasing order, then zeros.
static LISTS: [[u16; 8]; 256] = {
    let mut lists = [[0; 8]; 256];
    let (mut i, mut count) = (0, 0);
    while i < 8 * 256 {
        if i % 8 == 0 {
            count = 0;
        }
        if (i / 8) >> (i % 8) & 1 == 1 {
            lists[i / 8][count] = (i % 8) as u16;
            count += 1;
        }
        i += 1;
    }
    lists
};

/// Number of actions in each set of eight.
static COUNTS: [u8; 256] = {
    let mut counts = [0; 256];
    let mut set = 0;
    while set < 256 {
        counts[set] = (set as u8).count_ones() as u8;
        set += 1;
    }
    counts
};

/// The legal actions of neighbouring envs. All sets are of one word and there are no lists where the game gives sets
/// ([`Game::legal_set`](crate::Game::legal_set)).
#[derive(Clone, Debug)]
pub(super) struct LegalActions {
    /// Number of actions of the game.
    actions: usize,
    /// Words of a set.
    words: usize,
    /// The set of each env, empty where the game has ended.
    sets: Vec<u64>,
    /// The lists, one after the other; a game that has ended has the one entry 0.
    lists: Vec<Action>,
    /// Where the list of each env ends in `lists`; empty if there are no lists.
    ends: Vec<usize>,
}

impl LegalActions {
    /// No legal action in any env of a game with this many actions.
    pub(super) fn new(envs: usize, actions: usize, has_sets: bool) -> Self {
        let words = actions.div_ceil(64);
        assert!(!has_sets || words == 1, "only games of up to 64 actions give them as a set");
        let ends = if has_sets { Vec::new() } else { vec![0; envs] };
        Self { actions, words, sets: vec![0; envs * words], lists: Vec::new(), ends }
    }

    /// Whether there are no lists.
    #[inline]
    pub(super) fn has_sets(&self) -> bool {
        self.ends.is_empty()
    }

    /// Empties the sets of a block of envs before their lists come.
    #[inline]
    pub(super) fn empty(&mut self, block: &Range<usize>) {
        self.sets[block.start * self.words..block.end * self.words].fill(0);
    }

    /// Forgets all lists; they are written anew from the first env to the last.
    pub(super) fn clear(&mut self) {
        self.lists.clear();
    }

    #[inline]
    pub(super) fn contains(&self, env: usize, action: Action) -> bool {
        let word = action.index() / 64;
        word < self.words && self.sets[env * self.words + word] >> (action.index() % 64) & 1 == 1
    }

    /// Takes the legal actions of an env from a set.
    #[inline]
    pub(super) fn put_set(&mut self, env: usize, set: u64) {
        self.sets[env] = set;
    }

    /// Takes the legal actions of the next env, whose set is empty, from a list, and sets them in its mask, which is all
    /// false.
    #[inline]
    pub(super) fn put_list(&mut self, env: usize, list: &ActionList, mask: &mut [bool]) {
        let set = &mut self.sets[env * self.words..(env + 1) * self.words];
        for &action in list {
            mask[action.index()] = true;
            set[action.index() / 64] |= 1 << (action.index() % 64);
            self.lists.push(action); // most lists are too short for a call of memcpy
        }
        if list.is_empty() {
            self.lists.push(Action(0));
        }
        self.ends[env] = self.lists.len();
    }

    /// Writes the mask of an env whose actions are a set.
    #[inline]
    pub(super) fn write_mask(&self, env: usize, mask: &mut [bool]) {
        let bytes = self.sets[env].to_le_bytes();
        let (eights, rest) = mask.as_chunks_mut::<8>();
        let whole = eights.len();
        eights.iter_mut().zip(bytes).for_each(|(eight, byte)| *eight = MASKS[usize::from(byte)]);
        if !rest.is_empty() {
            rest.copy_from_slice(&MASKS[usize::from(bytes[whole])][..rest.len()]);
        }
    }

    /// Writes the lists of all envs one after the other, from `begin` on, the number of actions of each, and where each ends.
    /// Returns the last end.
    ///
    /// # Panics
    /// If a slice is too short.
    pub(super) fn write_lists(&self, begin: usize, actions: &mut [u16], counts: &mut [u16], ends: &mut [i64]) -> usize {
        let mut last = begin;
        let rows = counts.iter_mut().zip(ends);
        if self.has_sets() {
            let bytes = self.actions.div_ceil(8);
            for ((count, end), &set) in rows.zip(&self.sets) {
                let next = write_set(set, bytes, last, actions);
                (*count, *end) = ((next - last) as u16, next as i64);
                last = next;
            }
            return last;
        }
        let places = &mut actions[begin..begin + self.lists.len()];
        places.iter_mut().zip(&self.lists).for_each(|(place, action)| *place = action.0);
        for ((count, end), &next) in rows.zip(&self.ends) {
            let next = begin + next;
            (*count, *end) = ((next - last) as u16, next as i64);
            last = next;
        }
        last
    }

    /// A uniformly random legal action of an env, or action 0 where the game has ended.
    pub(super) fn choose(&self, env: usize, rng: &mut impl Rng) -> Action {
        if self.has_sets() {
            let mut list = [0; 64];
            let count = write_set(self.sets[env], 8, 0, &mut list);
            return Action(list[choose_index(count, rng)]);
        }
        let begin = if env == 0 { 0 } else { self.ends[env - 1] };
        choose(&self.lists[begin..self.ends[env]], rng)
    }
}

/// Writes the actions of a set of this many bytes in increasing order from `next` on, or 0 if it has none, and returns where
/// they end. Some places behind them may be overwritten.
///
/// Eight places are written for each byte, and then those left out that it does not fill: that takes less time than a loop
/// whose length cannot be predicted.
#[inline]
fn write_set(set: u64, bytes: usize, mut next: usize, actions: &mut [u16]) -> usize {
    let set = set | u64::from(set == 0);
    for (i, byte) in set.to_le_bytes().into_iter().enumerate().take(bytes) {
        let (list, count) = (&LISTS[usize::from(byte)], usize::from(COUNTS[usize::from(byte)]));
        let list = list.map(|action| 8 * i as u16 + action);
        match actions.get_mut(next..next + 8) {
            Some(places) => places.copy_from_slice(&list),
            None => actions[next..next + count].copy_from_slice(&list[..count]),
        }
        next += count;
    }
    next
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Sets of actions below `actions`, of all sizes, the empty and the full one among them.
    fn sets(actions: usize) -> Vec<u64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let full = u64::MAX >> (64 - actions);
        let mut random = || rng.next_u64() & full;
        [0, full].into_iter().chain((0..100).flat_map(|_| [random(), random() & random() & random()])).collect()
    }

    #[test]
    fn sets_are_listed_and_masked() {
        for actions in [1, 7, 8, 9, 12, 31, 32, 33, 64] {
            let sets = sets(actions);
            let mut legal = LegalActions::new(sets.len(), actions, true);
            sets.iter().enumerate().for_each(|(env, &set)| legal.put_set(env, set));
            let expected = |set: u64| (0..actions as u16).filter(|action| set >> action & 1 == 1).collect::<Vec<_>>();
            // No place more than the lists need, so that nothing can be written behind them.
            let total = sets.iter().map(|set| set.count_ones().max(1) as usize).sum::<usize>();
            let (mut list, mut counts, mut ends) = (vec![0; 5 + total], vec![0; sets.len()], vec![0; sets.len()]);
            assert_eq!(legal.write_lists(5, &mut list, &mut counts, &mut ends), 5 + total);
            let mut begin = 5;
            for (env, &set) in sets.iter().enumerate() {
                let end = ends[env] as usize;
                let expected = if set == 0 { vec![0] } else { expected(set) };
                assert_eq!((&list[begin..end], usize::from(counts[env])), (&expected[..], expected.len()));
                begin = end;

                let mut mask = vec![true; actions];
                legal.write_mask(env, &mut mask);
                let contained: Vec<bool> =
                    (0..actions).map(|action| legal.contains(env, Action(action as u16))).collect();
                let bits: Vec<bool> = (0..actions).map(|action| set >> action & 1 == 1).collect();
                assert_eq!((&mask, &contained), (&bits, &bits), "{actions} actions, set {set:b}");
                assert!((actions..200).all(|action| !legal.contains(env, Action(action as u16))));
            }
        }
    }

    #[test]
    fn a_choice_is_uniform() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut legal = LegalActions::new(2, 40, true);
        legal.put_set(0, 1 << 3 | 1 << 17 | 1 << 39);
        let mut counts = [0; 40];
        (0..3000).for_each(|_| counts[legal.choose(0, &mut rng).index()] += 1);
        assert!([3, 17, 39].iter().all(|&action| (900..1100).contains(&counts[action])), "{counts:?}");
        assert_eq!(counts.iter().sum::<u32>(), 3000);
        assert_eq!(legal.choose(1, &mut rng), Action(0), "where the game has ended");
    }
}

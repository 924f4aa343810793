//! The legal actions of neighbouring envs, as sets.

use std::ops::Range;

use rand::Rng;

use crate::action::{Action, ActionList};
use crate::playout::choose_index;

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

/// The legal actions of neighbouring envs.
#[derive(Clone, Debug)]
pub(super) struct LegalActions {
    /// Words of a set.
    words: usize,
    /// The set of each env, empty where the game has ended.
    sets: Vec<u64>,
}

impl LegalActions {
    /// No legal action in any env of a game with this many actions.
    pub(super) fn new(envs: usize, actions: usize) -> Self {
        let words = actions.div_ceil(64);
        Self { words, sets: vec![0; envs * words] }
    }

    /// Empties the sets of a block of envs before their lists come.
    #[inline]
    pub(super) fn empty(&mut self, block: &Range<usize>) {
        self.sets[block.start * self.words..block.end * self.words].fill(0);
    }

    #[inline]
    pub(super) fn contains(&self, env: usize, action: Action) -> bool {
        let word = action.index() / 64;
        word < self.words && self.sets[env * self.words + word] >> (action.index() % 64) & 1 == 1
    }

    /// Takes the legal actions of an env from a set, which only a game of up to 64 actions gives.
    #[inline]
    pub(super) fn put_set(&mut self, env: usize, set: u64) {
        self.sets[env] = set;
    }

    /// Takes the legal actions of an env, whose set is empty, from a list, and sets them in its mask, which is all false.
    #[inline]
    pub(super) fn put_list(&mut self, env: usize, list: &ActionList, mask: &mut [bool]) {
        let set = &mut self.sets[env * self.words..(env + 1) * self.words];
        for &action in list {
            mask[action.index()] = true;
            set[action.index() / 64] |= 1 << (action.index() % 64);
        }
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

    /// A uniformly random legal action of an env, or action 0 where the game has ended.
    pub(super) fn choose(&self, env: usize, rng: &mut impl Rng) -> Action {
        let set = &self.sets[env * self.words..(env + 1) * self.words];
        let count: u32 = set.iter().map(|word| word.count_ones()).sum();
        let mut before = choose_index(count.max(1) as usize, rng) as u32;
        for (number, &word) in set.iter().enumerate() {
            if before < word.count_ones() {
                let rest = (0..before).fold(word, |rest, _| rest & (rest - 1));
                return Action((64 * number) as u16 + rest.trailing_zeros() as u16);
            }
            before -= word.count_ones();
        }
        Action(0)
    }
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
    fn sets_are_masked() {
        for actions in [1, 7, 8, 9, 12, 31, 32, 33, 64] {
            let sets = sets(actions);
            let mut legal = LegalActions::new(sets.len(), actions);
            sets.iter().enumerate().for_each(|(env, &set)| legal.put_set(env, set));
            for (env, &set) in sets.iter().enumerate() {
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
        let mut legal = LegalActions::new(2, 170);
        let mut list = ActionList::new();
        [3, 63, 64, 169].into_iter().for_each(|action| list.push(Action(action)));
        legal.put_list(0, &list, &mut [false; 170]);
        let mut counts = [0; 170];
        (0..4000).for_each(|_| counts[legal.choose(0, &mut rng).index()] += 1);
        assert!([3, 63, 64, 169].iter().all(|&action| (900..1100).contains(&counts[action])), "{counts:?}");
        assert_eq!(counts.iter().sum::<u32>(), 4000);
        assert_eq!(legal.choose(1, &mut rng), Action(0), "where the game has ended");
    }
}

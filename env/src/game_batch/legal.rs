//! The legal actions of neighbouring envs, as sets.

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

/// The places of the ones in each byte, from the lowest.
static ONES: [[u8; 8]; 256] = {
    let mut ones = [[0; 8]; 256];
    let (mut i, mut count) = (0, 0);
    while i < 8 * 256 {
        count *= (i % 8 != 0) as usize;
        if (i / 8) >> (i % 8) & 1 == 1 {
            ones[i / 8][count] = (i % 8) as u8;
            count += 1;
        }
        i += 1;
    }
    ones
};

/// The legal actions of neighbouring envs: as sets, which answer whether an action is legal, and, where the game does not
/// give sets, as lists too, from which one is chosen without a search.
#[derive(Clone, Debug)]
pub(super) struct LegalActions {
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
        let ends = if has_sets { Vec::new() } else { vec![0; envs] };
        Self { words, sets: vec![0; envs * words], lists: Vec::new(), ends }
    }

    /// Drops all lists; they are written anew from the first env to the last.
    pub(super) fn clear_lists(&mut self) {
        self.lists.clear();
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

    /// A uniformly random legal action of an env, or action 0 where the game has ended.
    #[inline]
    pub(super) fn choose(&self, env: usize, rng: &mut impl Rng) -> Action {
        match self.ends.get(env) {
            Some(&end) => choose(&self.lists[env.checked_sub(1).map_or(0, |before| self.ends[before])..end], rng),
            None => choose_from_set(self.sets[env], rng),
        }
    }
}

/// A uniformly random action of a set, or action 0 where it is empty.
///
/// The chosen one is found without a branch, as it could not be predicted: by the numbers of ones up to each byte, all
/// at once (Vigna, "Broadword implementation of rank/select queries", 2008), and a table for the byte.
#[inline]
fn choose_from_set(set: u64, rng: &mut impl Rng) -> Action {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    let set = set | u64::from(set == 0);
    let pairs = set - (set >> 1 & 0x5555_5555_5555_5555);
    let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let sums = ((fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(LOW);
    let before = choose_index((sums >> 56) as usize, rng) as u64;
    // A byte's high bit stays where the ones up to its end are not more than those before the chosen one.
    let passed = (((before * LOW) | HIGH) - sums) & HIGH;
    let shift = ((passed >> 7).wrapping_mul(LOW) >> 56) * 8;
    let rank = before - ((sums << 8) >> shift & 0xff);
    Action(shift as u16 + u16::from(ONES[usize::from((set >> shift) as u8)][rank as usize & 7]))
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
            let mut legal = LegalActions::new(sets.len(), actions, true);
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
        let mut legal = LegalActions::new(2, 170, false);
        let mut list = ActionList::new();
        [3, 63, 64, 169].into_iter().for_each(|action| list.push(Action(action)));
        legal.put_list(0, &list, &mut [false; 170]);
        let mut counts = [0; 170];
        (0..4000).for_each(|_| counts[legal.choose(0, &mut rng).index()] += 1);
        assert!([3, 63, 64, 169].iter().all(|&action| (900..1100).contains(&counts[action])), "{counts:?}");
        assert_eq!(counts.iter().sum::<u32>(), 4000);
        legal.put_list(1, &ActionList::new(), &mut [false; 170]);
        assert_eq!(legal.choose(1, &mut rng), Action(0), "where the game has ended");
    }

    #[test]
    fn every_action_of_a_set_is_chosen_equally_often() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for set in sets(64).into_iter().take(30) {
            let mut counts = [0_u32; 64];
            let each = 200 * u64::from(set.count_ones().max(1));
            (0..each).for_each(|_| counts[choose_from_set(set, &mut rng).index()] += 1);
            let is_chosen = |action: usize| if set == 0 { action == 0 } else { set >> action & 1 == 1 };
            let expected = |action| if is_chosen(action) { 120..280 } else { 0..1 };
            assert!((0..64).all(|action| expected(action).contains(&counts[action])), "{set:b}: {counts:?}");
        }
    }
}

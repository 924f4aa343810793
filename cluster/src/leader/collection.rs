//! The outcomes of a job as they come in: which are there and from whom, which are compared with a second one, and what
//! has to be played again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rand::{Rng, RngExt};

use crate::identity::Key;

/// Number of results of a new worker that are checked in any case before its results are relied on: at least one of them
/// must have passed, and the others follow at once.
const PROBATION: u32 = 3;

/// The key under which the leader's own outcomes are kept.
pub(super) const LEADER: Key = [0; 32];

/// An item that is played twice.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) number: usize,
    pub(super) by: Key,
    pub(super) item: Vec<u8>,
    pub(super) since: Instant,
}

/// What became of an outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Received {
    /// It was missing.
    New,
    /// It was there.
    Known,
    /// It is the second one of an item that is played twice, and the same.
    Confirmed {
        /// Who had played it first.
        by: Key,
    },
    /// It is the second one, and another.
    Disputed {
        /// Who had played it first.
        by: Key,
        /// The first outcome.
        first: Vec<u8>,
    },
}

/// State of a job.
pub(super) struct Collection {
    /// Who has played each item.
    by: Vec<Option<Key>>,
    /// Whether the item has been handed on.
    released: Vec<bool>,
    missing: usize,
    pub(super) checks: Vec<Check>,
    /// Number of checks that each worker has begun in this job.
    begun: HashMap<Key, u32>,
    /// Share of the items that are checked.
    verify: f64,
}

impl Collection {
    pub(super) fn new(items: usize, verify: f64) -> Self {
        let (by, released) = (vec![None; items], vec![false; items]);
        Self { by, released, missing: items, checks: Vec::new(), begun: HashMap::new(), verify }
    }

    pub(super) fn len(&self) -> usize {
        self.by.len()
    }

    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// Numbers of the items that are missing.
    pub(super) fn missing_numbers(&self) -> Vec<usize> {
        (0..self.len()).filter(|&number| self.by[number].is_none()).collect()
    }

    pub(super) fn has(&self, number: usize) -> bool {
        self.by[number].is_some()
    }

    /// Who has played the item.
    pub(super) fn player(&self, number: usize) -> Option<Key> {
        self.by[number]
    }

    /// What an outcome is; an item that was missing is there from now on.
    pub(super) fn receive(&mut self, number: usize, key: Key, item: &[u8]) -> Received {
        if let Some(i) = self.checks.iter().position(|check| check.number == number && check.by != key) {
            let check = self.checks.swap_remove(i);
            return if check.item == item {
                Received::Confirmed { by: check.by }
            } else {
                Received::Disputed { by: check.by, first: check.item }
            };
        }
        if self.by[number].is_some() {
            return Received::Known;
        }
        self.by[number] = Some(key);
        self.missing -= 1;
        Received::New
    }

    /// Chooses whether a new outcome is checked. `passed` is the number of checks that the worker has passed.
    pub(super) fn choose_check(
        &mut self,
        number: usize,
        key: Key,
        passed: u32,
        item: &[u8],
        rng: &mut impl Rng,
    ) -> bool {
        if self.verify <= 0.0 || key == LEADER {
            return false;
        }
        let begun = self.begun.entry(key).or_default();
        if *begun + passed >= PROBATION && !rng.random_bool(self.verify) {
            return false;
        }
        *begun += 1;
        self.checks.push(Check { number, by: key, item: item.to_vec(), since: Instant::now() });
        true
    }

    /// Takes a check off the list, if it still has to be done after this time.
    pub(super) fn overdue(&mut self, patience: Duration, is_alone: impl Fn(&Key) -> bool) -> Option<Check> {
        let due = |check: &Check| check.since.elapsed() >= patience || is_alone(&check.by);
        let i = self.checks.iter().position(due)?;
        Some(self.checks.swap_remove(i))
    }

    /// Takes back all outcomes of a worker that have not been handed on, and returns their number.
    pub(super) fn withdraw(&mut self, key: Key) -> usize {
        self.checks.retain(|check| check.by != key);
        let mut withdrawn = 0;
        for (by, released) in self.by.iter_mut().zip(&self.released) {
            if *by == Some(key) && !released {
                *by = None;
                withdrawn += 1;
            }
        }
        self.missing += withdrawn;
        withdrawn
    }

    /// Marks an item as handed on.
    pub(super) fn release(&mut self, number: usize) {
        self.released[number] = true;
    }

    pub(super) fn is_released(&self, number: usize) -> bool {
        self.released[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_agents::streams::{Purpose, Stream, stream};

    fn rng() -> Stream {
        stream(1, Purpose::Play, [0, 0])
    }

    #[test]
    fn an_item_is_received_once_from_whomever() {
        let mut collection = Collection::new(3, 0.0);
        assert_eq!(collection.receive(1, [1; 32], b"x"), Received::New);
        assert_eq!(collection.receive(1, [1; 32], b"x"), Received::Known);
        assert_eq!(collection.receive(1, [2; 32], b"y"), Received::Known);
        assert_eq!((collection.missing(), collection.missing_numbers()), (2, vec![0, 2]));
        assert!(!collection.choose_check(1, [1; 32], 0, b"x", &mut rng()), "nothing is checked at 0");
    }

    #[test]
    fn checks_compare_workers_with_others() {
        let mut collection = Collection::new(3, 0.01);
        let mut rng = rng();
        for number in 0..3 {
            assert_eq!(collection.receive(number, [1; 32], b"x"), Received::New);
            assert!(collection.choose_check(number, [1; 32], 0, b"x", &mut rng), "the first ones are checked");
        }
        assert_eq!(collection.receive(0, [1; 32], b"x"), Received::Known, "not by the same worker");
        assert_eq!(collection.receive(0, [2; 32], b"x"), Received::Confirmed { by: [1; 32] });
        let disputed = Received::Disputed { by: [1; 32], first: b"x".to_vec() };
        assert_eq!(collection.receive(1, [2; 32], b"y"), disputed);
        assert!(collection.overdue(Duration::from_secs(60), |_| false).is_none());
        assert_eq!(collection.overdue(Duration::ZERO, |_| false).expect("one").number, 2);
        assert!(!collection.choose_check(0, LEADER, 0, b"x", &mut rng));
    }

    #[test]
    fn a_share_of_a_known_workers_items_is_checked() {
        let mut collection = Collection::new(20_000, 0.05);
        let mut rng = rng();
        let checked = (0..20_000)
            .filter(|&number| {
                collection.receive(number, [1; 32], b"x");
                collection.choose_check(number, [1; 32], PROBATION, b"x", &mut rng)
            })
            .count();
        assert!((850..1150).contains(&checked), "{checked}");
    }

    #[test]
    fn what_a_worker_has_played_can_be_taken_back() {
        let mut collection = Collection::new(4, 1.0);
        let mut rng = rng();
        for (number, key) in [(0, 1), (1, 1), (2, 2)] {
            collection.receive(number, [key; 32], b"x");
            collection.choose_check(number, [key; 32], 9, b"x", &mut rng);
        }
        collection.release(0);
        assert_eq!((collection.withdraw([1; 32]), collection.missing_numbers()), (1, vec![1, 3]));
        assert_eq!((collection.checks.len(), collection.missing()), (1, 2));
        assert_eq!(collection.player(2), Some([2; 32]));
        assert_eq!(collection.receive(1, [2; 32], b"x"), Received::New);
    }
}

//! The outcomes of a job as they come in: which are there and from whom, which are compared with a second one, and what
//! has to be played again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rand::{Rng, RngExt};

use crate::identity::Key;

/// Number of results of a new worker that are checked in any case before its results are relied on: at least one of them
/// must have passed, and the others follow at once.
const PROBATION: u32 = 3;
/// One of this number of comparisons is the leader's own, since names of workers may be anyone's.
const OWN_SHARE: u32 = 4;
/// The leader plays one item for this number of items at most, besides the first one.
const OWN_EVERY: usize = 200;

/// An item that is played twice.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) number: usize,
    pub(super) by: Key,
    pub(super) item: Vec<u8>,
    pub(super) since: Instant,
    /// Who plays it again.
    pub(super) again: Again,
}

/// Who plays an item again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Again {
    /// Another worker.
    Worker,
    /// The leader.
    Leader,
}

/// What may become of an outcome that has been handed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Handing {
    /// Nothing.
    Final,
    /// Another takes its place if its worker turns out to lie.
    Replaceable,
}

/// What became of an outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Received {
    /// It was missing.
    New,
    /// It is the second one of an item, and the same.
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

/// An item that is there.
struct Slot {
    by: Key,
    /// The outcome, until it is handed on.
    held: Option<Vec<u8>>,
}

/// State of a job.
pub(super) struct Collection {
    slots: Vec<Option<Slot>>,
    /// Numbers of the items that are there and have not been handed on, in their order.
    held: Vec<usize>,
    missing: usize,
    pub(super) checks: Vec<Check>,
    /// Number of checks that each worker has begun in this job.
    begun: HashMap<Key, u32>,
    /// Checks that were the leader's own by choice.
    own: usize,
    /// Share of the items that are checked.
    verify: f64,
    handing: Handing,
}

impl Collection {
    pub(super) fn new(items: usize, verify: f64, handing: Handing) -> Self {
        Self {
            slots: std::iter::repeat_with(|| None).take(items).collect(),
            held: Vec::new(),
            missing: items,
            checks: Vec::new(),
            begun: HashMap::new(),
            own: 0,
            verify,
            handing,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// Numbers of the items that are missing.
    pub(super) fn missing_numbers(&self) -> Vec<usize> {
        (0..self.len()).filter(|&number| self.slots[number].is_none()).collect()
    }

    pub(super) fn has(&self, number: usize) -> bool {
        self.slots[number].is_some()
    }

    /// Whether an outcome of this worker would change nothing: the item is there, is not to be compared with a second
    /// one, and is not one that an unproven worker claims and a proven one brings.
    pub(super) fn is_known(&self, number: usize, key: &Key, is_trusted: impl Fn(&Key) -> bool) -> bool {
        let Some(slot) = &self.slots[number] else { return false };
        let is_checked = self.checks.iter().any(|check| check.number == number && check.by != *key);
        let is_claimed = slot.held.is_some() && slot.by != *key && !is_trusted(&slot.by);
        let decides = is_checked || (is_claimed && is_trusted(key));
        !decides
    }

    /// What an outcome that is not known is. One that was missing is there from now on.
    pub(super) fn receive(&mut self, number: usize, key: Key, item: &[u8]) -> Received {
        let check = self.checks.iter().position(|check| check.number == number && check.by != key);
        let (by, first) = match (check.map(|i| self.checks.swap_remove(i)), &self.slots[number]) {
            (Some(check), _) => (check.by, check.item),
            (None, Some(Slot { by, held })) => (*by, held.clone().unwrap_or_default()),
            (None, None) => {
                self.slots[number] = Some(Slot { by: key, held: Some(item.to_vec()) });
                self.held.push(number);
                self.missing -= 1;
                return Received::New;
            }
        };
        if first == item { Received::Confirmed { by } } else { Received::Disputed { by, first } }
    }

    /// Chooses whether a new outcome is checked, and by whom. `passed` is the number of checks that the worker has passed.
    pub(super) fn choose_check(
        &mut self,
        number: usize,
        key: Key,
        passed: u32,
        item: &[u8],
        rng: &mut impl Rng,
    ) -> Option<Again> {
        if self.verify <= 0.0 {
            return None;
        }
        let begun = self.begun.entry(key).or_default();
        if *begun + passed >= PROBATION && !rng.random_bool(self.verify) {
            return None;
        }
        *begun += 1;
        let is_own = rng.random_ratio(1, OWN_SHARE) && self.own <= (self.len() - self.missing) / OWN_EVERY;
        self.own += usize::from(is_own);
        let again = if is_own { Again::Leader } else { Again::Worker };
        self.checks.push(Check { number, by: key, item: item.to_vec(), since: Instant::now(), again });
        Some(again)
    }

    /// Takes a check off the list that the leader is to do: its own ones, and those that are not done after this time.
    pub(super) fn overdue(&mut self, patience: Duration, is_alone: impl Fn(&Key) -> bool) -> Option<Check> {
        let due =
            |check: &Check| check.again == Again::Leader || check.since.elapsed() >= patience || is_alone(&check.by);
        let i = self.checks.iter().position(due)?;
        Some(self.checks.swap_remove(i))
    }

    /// Takes back the outcomes of a worker, but for those that have been handed on for good, and returns their number.
    pub(super) fn withdraw(&mut self, key: Key) -> usize {
        self.checks.retain(|check| check.by != key);
        let mut withdrawn = 0;
        for slot in &mut self.slots {
            let is_withdrawn =
                |slot: &mut Slot| slot.by == key && (slot.held.is_some() || self.handing == Handing::Replaceable);
            withdrawn += usize::from(slot.take_if(is_withdrawn).is_some());
        }
        self.held.retain(|&number| self.slots[number].is_some());
        self.missing += withdrawn;
        withdrawn
    }

    /// Takes the outcomes that can be handed on: those of workers that are relied on.
    pub(super) fn hand_on(&mut self, is_trusted: impl Fn(&Key) -> bool) -> Vec<(usize, Vec<u8>)> {
        let mut ready = Vec::new();
        let slots = &mut self.slots;
        self.held.retain(|&number| {
            let slot = slots[number].as_mut().filter(|slot| is_trusted(&slot.by));
            let item = slot.and_then(|slot| slot.held.take());
            let is_held = item.is_none();
            ready.extend(item.map(|item| (number, item)));
            is_held
        });
        ready
    }

    pub(super) fn is_handed_on(&self, number: usize) -> bool {
        self.slots[number].as_ref().is_some_and(|slot| slot.held.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_base::streams::{Purpose, Stream, stream};

    fn rng() -> Stream {
        stream(1, Purpose::Play, [0, 0])
    }

    const NO_ONE: fn(&Key) -> bool = |_| false;

    #[test]
    fn an_item_is_received_once_from_whomever() {
        let mut collection = Collection::new(3, 0.0, Handing::Final);
        assert!(!collection.is_known(1, &[1; 32], NO_ONE));
        assert_eq!(collection.receive(1, [1; 32], b"x"), Received::New);
        assert!(collection.is_known(1, &[1; 32], NO_ONE) && collection.is_known(1, &[2; 32], NO_ONE));
        assert_eq!((collection.missing(), collection.missing_numbers()), (2, vec![0, 2]));
        assert_eq!(collection.choose_check(1, [1; 32], 0, b"x", &mut rng()), None, "nothing is checked at 0");
    }

    #[test]
    fn checks_compare_workers_with_others() {
        let mut collection = Collection::new(3, 0.01, Handing::Final);
        let mut rng = rng();
        for number in 0..3 {
            assert_eq!(collection.receive(number, [1; 32], b"x"), Received::New);
            let again = collection.choose_check(number, [1; 32], 0, b"x", &mut rng);
            assert!(again.is_some(), "the first ones are checked");
        }
        collection.checks.iter_mut().for_each(|check| check.again = Again::Worker);
        assert!(collection.is_known(0, &[1; 32], NO_ONE), "not by the same worker");
        assert!(!collection.is_known(0, &[2; 32], NO_ONE));
        assert_eq!(collection.receive(0, [2; 32], b"x"), Received::Confirmed { by: [1; 32] });
        let disputed = Received::Disputed { by: [1; 32], first: b"x".to_vec() };
        assert_eq!(collection.receive(1, [2; 32], b"y"), disputed);
        assert!(collection.overdue(Duration::from_secs(60), |_| false).is_none());
        assert_eq!(collection.overdue(Duration::ZERO, |_| false).expect("one").number, 2);
    }

    #[test]
    fn a_share_of_a_known_workers_items_is_checked_some_by_the_leader() {
        let mut collection = Collection::new(20_000, 0.05, Handing::Final);
        let mut rng = rng();
        for number in 0..20_000 {
            collection.receive(number, [1; 32], b"x");
            collection.choose_check(number, [1; 32], PROBATION, b"x", &mut rng);
        }
        let checked = collection.checks.len();
        assert!((850..1150).contains(&checked), "{checked}");
        assert!((80..=101).contains(&collection.own), "{}", collection.own);
        let own = std::iter::from_fn(|| collection.overdue(Duration::MAX, |_| false)).count();
        assert_eq!(own, collection.own, "they are due at once");
    }

    #[test]
    fn what_a_worker_has_played_can_be_taken_back() {
        for (handing, withdrawn) in [(Handing::Final, vec![1, 3]), (Handing::Replaceable, vec![0, 1, 3])] {
            let mut collection = Collection::new(4, 1.0, handing);
            let mut rng = rng();
            collection.receive(0, [1; 32], b"x");
            assert_eq!(collection.hand_on(|_| true), [(0, b"x".to_vec())]);
            for (number, key) in [(1, 1), (2, 2)] {
                collection.receive(number, [key; 32], b"x");
                collection.choose_check(number, [key; 32], 9, b"x", &mut rng);
            }
            assert_eq!(collection.withdraw([1; 32]), withdrawn.len() - 1, "3 was not there");
            assert_eq!(collection.missing_numbers(), withdrawn);
            assert_eq!((collection.checks.len(), collection.missing()), (1, withdrawn.len()));
            // What the liar had said is not handed on in the name of whoever follows.
            assert_eq!(collection.receive(1, [2; 32], b"y"), Received::New);
            assert_eq!(collection.hand_on(|_| true), [(2, b"x".to_vec()), (1, b"y".to_vec())]);
            assert_eq!(
                [0, 1, 2].map(|number| collection.is_handed_on(number)),
                [handing == Handing::Final, true, true]
            );
        }
    }

    #[test]
    fn a_strangers_claim_does_not_stand_against_a_known_worker() {
        let known = |key: &Key| *key == [2; 32];
        let mut collection = Collection::new(2, 0.01, Handing::Replaceable);
        collection.receive(0, [1; 32], b"claim");
        assert!(collection.is_known(0, &[3; 32], known), "another stranger's word is no better");
        assert!(!collection.is_known(0, &[2; 32], known));
        let disputed = Received::Disputed { by: [1; 32], first: b"claim".to_vec() };
        assert_eq!(collection.receive(0, [2; 32], b"truth"), disputed);
        assert_eq!(collection.receive(0, [2; 32], b"claim"), Received::Confirmed { by: [1; 32] });
        collection.receive(1, [2; 32], b"x");
        collection.hand_on(known);
        assert!(collection.is_known(1, &[2; 32], known) && collection.is_known(1, &[1; 32], known));
    }
}

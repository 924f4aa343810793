//! The outcomes of a job: which are received and from whom, which are compared with a second one, and which items must be
//! played again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rand::{Rng, RngExt};

use crate::identity::Key;

/// Number of results of a new worker that are always checked. One of them must pass before any of its results is used.
const PROBATION: u32 = 3;
/// One in this number of comparisons is the leader's own, since two names may belong to one person.
const OWN_SHARE: u32 = 4;
/// The leader plays at most one item per this number of items, besides the first one.
const OWN_EVERY: usize = 200;

/// An item that is played twice.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) number: usize,
    pub(super) by: Key,
    pub(super) item: Vec<u8>,
    pub(super) since: Instant,
    /// Who plays it again.
    pub(super) checker: Checker,
}

/// Who plays an item again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Checker {
    /// Another worker.
    Worker,
    /// The leader.
    Leader,
}

/// Whether an outcome that has been committed can be replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommitPolicy {
    /// It stays.
    Final,
    /// Another takes its place if its worker turns out to cheat.
    Replaceable,
}

/// Where an outcome comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// A worker: it is new to the journal.
    Worker,
    /// The journal of an earlier leader.
    Journal,
}

/// Whether missing items are put on the work queue for the first time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HandOut {
    /// For the first time since the leader began, or since the server lost them. Older ranges are removed from the queue.
    First {
        /// Whether the server is known to have the streams and consumers.
        is_ready: bool,
    },
    /// Again, beside ranges that may still be played.
    Again,
}

/// What an outcome turned out to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Received {
    /// The first one of its item.
    New,
    /// The second one, equal to the first.
    Confirmed {
        /// Who played it first.
        by: Key,
    },
    /// The second one, different from the first.
    Disputed {
        /// Who played it first.
        by: Key,
        /// The first outcome.
        first: Vec<u8>,
    },
}

/// An item with an outcome.
struct Slot {
    by: Key,
    /// The outcome, until it is committed.
    held: Option<Vec<u8>>,
}

/// The outcomes of a job by number of the item.
pub(super) struct Outcomes {
    slots: Vec<Option<Slot>>,
    /// Numbers of the items whose outcomes are not committed yet, in the order of arrival.
    held: Vec<usize>,
    missing: usize,
    pub(super) checks: Vec<Check>,
    /// Number of checks begun for each worker in this job.
    begun: HashMap<Key, u32>,
    /// Number of checks assigned to the leader.
    own: usize,
    /// Share of the items that are checked.
    verify: f64,
    policy: CommitPolicy,
}

impl Outcomes {
    pub(super) fn new(items: usize, verify: f64, policy: CommitPolicy) -> Self {
        Self {
            slots: std::iter::repeat_with(|| None).take(items).collect(),
            held: Vec::new(),
            missing: items,
            checks: Vec::new(),
            begun: HashMap::new(),
            own: 0,
            verify,
            policy,
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

    /// Whether an outcome of this worker would change nothing: the item has one, no comparison is pending, and it is not a
    /// trusted worker's answer to an untrusted worker's claim.
    pub(super) fn is_known(&self, number: usize, key: &Key, is_trusted: impl Fn(&Key) -> bool) -> bool {
        let Some(slot) = &self.slots[number] else { return false };
        let is_checked = self.checks.iter().any(|check| check.number == number && check.by != *key);
        let is_claimed = slot.held.is_some() && slot.by != *key && !is_trusted(&slot.by);
        let decides = is_checked || (is_claimed && is_trusted(key));
        !decides
    }

    /// Takes an outcome that is not known.
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

    /// Decides whether a new outcome is checked, and by whom. `passed` is the number of checks that the worker has passed.
    pub(super) fn choose_check(
        &mut self,
        number: usize,
        key: Key,
        passed: u32,
        item: &[u8],
        rng: &mut impl Rng,
    ) -> Option<Checker> {
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
        let checker = if is_own { Checker::Leader } else { Checker::Worker };
        self.checks.push(Check { number, by: key, item: item.to_vec(), since: Instant::now(), checker });
        Some(checker)
    }

    /// Removes and returns a check that the leader must do: one of its own, or one that no worker has done within `patience`.
    pub(super) fn overdue(&mut self, patience: Duration, is_alone: impl Fn(&Key) -> bool) -> Option<Check> {
        let due = |check: &Check| {
            check.checker == Checker::Leader || check.since.elapsed() >= patience || is_alone(&check.by)
        };
        let i = self.checks.iter().position(due)?;
        Some(self.checks.swap_remove(i))
    }

    /// Removes the outcomes of a worker, except for those that are committed for good, and returns their number.
    pub(super) fn withdraw(&mut self, key: Key) -> usize {
        self.checks.retain(|check| check.by != key);
        let mut withdrawn = 0;
        for slot in &mut self.slots {
            let is_withdrawn =
                |slot: &mut Slot| slot.by == key && (slot.held.is_some() || self.policy == CommitPolicy::Replaceable);
            withdrawn += usize::from(slot.take_if(is_withdrawn).is_some());
        }
        self.held.retain(|&number| self.slots[number].is_some());
        self.missing += withdrawn;
        withdrawn
    }

    /// Returns the outcomes of trusted workers that have not been committed yet.
    pub(super) fn commit(&mut self, is_trusted: impl Fn(&Key) -> bool) -> Vec<(usize, Vec<u8>)> {
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

    pub(super) fn is_committed(&self, number: usize) -> bool {
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
        let mut outcomes = Outcomes::new(3, 0.0, CommitPolicy::Final);
        assert!(!outcomes.is_known(1, &[1; 32], NO_ONE));
        assert_eq!(outcomes.receive(1, [1; 32], b"x"), Received::New);
        assert!(outcomes.is_known(1, &[1; 32], NO_ONE) && outcomes.is_known(1, &[2; 32], NO_ONE));
        assert_eq!((outcomes.missing(), outcomes.missing_numbers()), (2, vec![0, 2]));
        assert_eq!(outcomes.choose_check(1, [1; 32], 0, b"x", &mut rng()), None, "nothing is checked at 0");
    }

    #[test]
    fn checks_compare_workers_with_others() {
        let mut outcomes = Outcomes::new(3, 0.01, CommitPolicy::Final);
        let mut rng = rng();
        for number in 0..3 {
            assert_eq!(outcomes.receive(number, [1; 32], b"x"), Received::New);
            let checker = outcomes.choose_check(number, [1; 32], 0, b"x", &mut rng);
            assert!(checker.is_some(), "the first ones are checked");
        }
        outcomes.checks.iter_mut().for_each(|check| check.checker = Checker::Worker);
        assert!(outcomes.is_known(0, &[1; 32], NO_ONE), "not by the same worker");
        assert!(!outcomes.is_known(0, &[2; 32], NO_ONE));
        assert_eq!(outcomes.receive(0, [2; 32], b"x"), Received::Confirmed { by: [1; 32] });
        let disputed = Received::Disputed { by: [1; 32], first: b"x".to_vec() };
        assert_eq!(outcomes.receive(1, [2; 32], b"y"), disputed);
        assert!(outcomes.overdue(Duration::from_secs(60), |_| false).is_none());
        assert_eq!(outcomes.overdue(Duration::ZERO, |_| false).expect("one").number, 2);
    }

    #[test]
    fn a_share_of_a_known_workers_items_is_checked_some_by_the_leader() {
        let mut outcomes = Outcomes::new(20_000, 0.05, CommitPolicy::Final);
        let mut rng = rng();
        for number in 0..20_000 {
            outcomes.receive(number, [1; 32], b"x");
            outcomes.choose_check(number, [1; 32], PROBATION, b"x", &mut rng);
        }
        let checked = outcomes.checks.len();
        assert!((850..1150).contains(&checked), "{checked}");
        assert!((80..=101).contains(&outcomes.own), "{}", outcomes.own);
        let own = std::iter::from_fn(|| outcomes.overdue(Duration::MAX, |_| false)).count();
        assert_eq!(own, outcomes.own, "they are due at once");
    }

    #[test]
    fn what_a_worker_has_played_can_be_taken_back() {
        for (policy, withdrawn) in [(CommitPolicy::Final, vec![1, 3]), (CommitPolicy::Replaceable, vec![0, 1, 3])] {
            let mut outcomes = Outcomes::new(4, 1.0, policy);
            let mut rng = rng();
            outcomes.receive(0, [1; 32], b"x");
            assert_eq!(outcomes.commit(|_| true), [(0, b"x".to_vec())]);
            for (number, key) in [(1, 1), (2, 2)] {
                outcomes.receive(number, [key; 32], b"x");
                outcomes.choose_check(number, [key; 32], 9, b"x", &mut rng);
            }
            assert_eq!(outcomes.withdraw([1; 32]), withdrawn.len() - 1, "3 was not there");
            assert_eq!(outcomes.missing_numbers(), withdrawn);
            assert_eq!((outcomes.checks.len(), outcomes.missing()), (1, withdrawn.len()));
            // The excluded worker's outcomes are not attributed to the next worker.
            assert_eq!(outcomes.receive(1, [2; 32], b"y"), Received::New);
            assert_eq!(outcomes.commit(|_| true), [(2, b"x".to_vec()), (1, b"y".to_vec())]);
            assert_eq!(
                [0, 1, 2].map(|number| outcomes.is_committed(number)),
                [policy == CommitPolicy::Final, true, true]
            );
        }
    }

    #[test]
    fn a_strangers_claim_does_not_stand_against_a_known_worker() {
        let known = |key: &Key| *key == [2; 32];
        let mut outcomes = Outcomes::new(2, 0.01, CommitPolicy::Replaceable);
        outcomes.receive(0, [1; 32], b"claim");
        assert!(outcomes.is_known(0, &[3; 32], known), "another stranger's word is no better");
        assert!(!outcomes.is_known(0, &[2; 32], known));
        let disputed = Received::Disputed { by: [1; 32], first: b"claim".to_vec() };
        assert_eq!(outcomes.receive(0, [2; 32], b"truth"), disputed);
        assert_eq!(outcomes.receive(0, [2; 32], b"claim"), Received::Confirmed { by: [1; 32] });
        outcomes.receive(1, [2; 32], b"x");
        outcomes.commit(known);
        assert!(outcomes.is_known(1, &[2; 32], known) && outcomes.is_known(1, &[1; 32], known));
    }
}

//! Actions and reusable lists of them.

use std::ops::Deref;

/// One ply, as an index below the game's number of actions. An index means the same thing in every state of a game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Action(pub u16);

impl Action {
    /// The index as a `usize`, for arrays kept per action.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The legal actions of a state in increasing order. Reused from ply to ply, it stops allocating after the first few.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ActionList(Vec<Action>);

impl ActionList {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Removes all actions and keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends an action; callers keep the list in increasing order.
    #[inline]
    pub fn push(&mut self, action: Action) {
        debug_assert!(self.0.last().is_none_or(|&last| last < action), "actions must be pushed in increasing order");
        self.0.push(action);
    }

    /// Appends several actions, in increasing order as for [`ActionList::push`].
    #[inline]
    pub(crate) fn append(&mut self, actions: &[Action]) {
        self.0.extend_from_slice(actions);
        debug_assert!(self.0.is_sorted(), "actions must be appended in increasing order");
    }

    /// Appends `action(element)` for every element of a set, in increasing order, `AT_ONCE` of them in each turn of a
    /// loop: how many there are cannot be predicted, but mostly that one turn is enough. `action` is also called with
    /// 64, for elements that are not there, and must return something.
    #[inline]
    pub(crate) fn push_set<const AT_ONCE: usize>(&mut self, mut set: u64, action: impl Fn(usize) -> Action) {
        let len = self.0.len() + set.count_ones() as usize;
        loop {
            self.0.extend_from_slice(&[(); AT_ONCE].map(|()| {
                let element = set.trailing_zeros() as usize;
                set &= set.wrapping_sub(1);
                action(element)
            }));
            if set == 0 {
                break;
            }
        }
        self.0.truncate(len);
        debug_assert!(self.0.is_sorted(), "actions must be appended in increasing order");
    }

    /// Whether the action is in the list (binary search).
    #[must_use]
    pub fn contains(&self, action: Action) -> bool {
        self.0.binary_search(&action).is_ok()
    }
}

impl Deref for ActionList {
    type Target = [Action];

    fn deref(&self) -> &[Action] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a ActionList {
    type Item = &'a Action;
    type IntoIter = std::slice::Iter<'a, Action>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

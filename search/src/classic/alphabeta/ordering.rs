//! The order in which actions are tried: the table's action first, then killers, then by history.

use turnstone_env::{Action, Side};

/// Stands for no action.
const NONE: Action = Action(u16::MAX);

/// A history score above this halves all of them.
const MOST_HISTORY: u16 = 50_000;

/// Ranks above any history score.
const TABLE_RANK: u16 = u16::MAX;
const KILLER_RANKS: [u16; 2] = [u16::MAX - 1, u16::MAX - 2];

/// Move ordering learned from cutoffs.
#[derive(Clone, Debug)]
pub(super) struct Ordering {
    /// By ply from the root and mover, the two actions that caused the latest cutoffs there.
    killers: Vec<[[Action; 2]; 2]>,
    /// By mover and action, how much cutting off it has done.
    history: [Vec<u16>; 2],
}

impl Ordering {
    /// Knows nothing yet of a game with this many actions.
    pub(super) fn new(actions: usize) -> Self {
        Self { killers: Vec::new(), history: [vec![0; actions], vec![0; actions]] }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.killers.clear();
        self.history.iter_mut().for_each(|history| history.fill(0));
    }

    /// A new search begins: what earlier ones taught counts less.
    pub(super) fn begin(&mut self) {
        self.killers.clear();
        self.halve();
    }

    /// Allocates the entries of plies below `depth`.
    pub(super) fn reserve(&mut self, depth: u32) {
        self.killers.resize(self.killers.len().max(depth as usize), [[NONE; 2]; 2]);
    }

    /// Fills `queue` with the legal actions and their ranks.
    #[inline]
    pub(super) fn rank(&self, ply: usize, mover: Side, legal: &[Action], first: Option<Action>, queue: &mut Queue) {
        let killers = self.killers[ply][mover.index()];
        let history = &self.history[mover.index()];
        let first = first.unwrap_or(NONE);
        queue.0.clear();
        queue.0.extend(legal.iter().map(|&action| {
            let rank = if action == first {
                TABLE_RANK
            } else if action == killers[0] {
                KILLER_RANKS[0]
            } else if action == killers[1] {
                KILLER_RANKS[1]
            } else {
                history[action.index()]
            };
            u32::from(rank) << 16 | u32::from(u16::MAX - action.0)
        }));
    }

    /// An action caused a cutoff `depth` plies above the leaves.
    #[inline]
    pub(super) fn reward(&mut self, ply: usize, mover: Side, action: Action, depth: u32) {
        let killers = &mut self.killers[ply][mover.index()];
        if killers[0] != action {
            *killers = [action, killers[0]];
        }
        let score = &mut self.history[mover.index()][action.index()];
        *score = score.saturating_add((depth * depth).min(4096) as u16);
        if *score > MOST_HISTORY {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.history.iter_mut().flatten().for_each(|score| *score /= 2);
    }
}

/// Actions waiting to be tried: the rank in the upper half, the complement of the action in the lower, so that the
/// greatest number is the next to try and equal ranks keep the order of the actions.
#[derive(Clone, Default, Debug)]
pub(super) struct Queue(Vec<u32>);

impl Queue {
    /// Takes the action of the greatest rank out. Most positions are cut off early, so this selects and never sorts.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Action> {
        let mut best = 0;
        for (i, &entry) in self.0.iter().enumerate() {
            if entry > self.0[best] {
                best = i;
            }
        }
        (!self.0.is_empty()).then(|| Action(u16::MAX - self.0.swap_remove(best) as u16))
    }
}

//! Results of classical searches, and statistics of their work.

use turnstone_env::{Action, Side};

/// Result of a classical search.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SearchResult {
    /// The best action, the first in the order of actions among equals (as the games' sources break ties). `None` if the
    /// game is over, the depth is 0, or a search to a fixed depth was stopped.
    pub action: Option<Action>,
    /// Its score for the first side, in the heuristic's units.
    pub score: i32,
    /// The depth in plies that was searched in full.
    pub depth: u32,
    /// Whether the score contains no static estimate, so that a deeper search cannot change it.
    pub complete: bool,
    /// The principal variation as far as it is known, the best action first.
    pub line: Vec<Action>,
    /// Statistics of the search.
    pub stats: SearchStats,
}

/// Statistics of a search.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SearchStats {
    /// Positions visited below the root.
    pub nodes: u64,
    /// Positions evaluated by static estimation, finished games included.
    pub evaluated: u64,
    /// Positions whose actions were generated, the root included.
    pub expanded: u64,
    /// Actions generated in them.
    pub generated: u64,
    /// Positions whose remaining actions were cut off because a bound was passed.
    pub cutoffs: u64,
}

impl SearchStats {
    /// The average branching factor: legal actions per position expanded.
    #[must_use]
    pub fn branching(&self) -> f64 {
        self.generated as f64 / self.expanded.max(1) as f64
    }

    /// Counts a position with this many legal actions as expanded.
    #[inline]
    pub(super) fn expand(&mut self, legal: usize) {
        self.expanded += 1;
        self.generated += legal as u64;
    }
}

/// Whether the mover prefers a score for the first side to another.
#[inline]
pub(super) fn prefers(mover: Side, score: i32, to: i32) -> bool {
    match mover {
        Side::First => score > to,
        Side::Second => score < to,
    }
}

/// The best line from every ply of the path being searched. Reused, it stops allocating.
#[derive(Clone, Default, Debug)]
pub(super) struct Lines(Vec<Vec<Action>>);

impl Lines {
    /// Clears all lines and allocates those of plies up to and including `depth`.
    pub(super) fn reset(&mut self, depth: u32) {
        self.0.resize(self.0.len().max(depth as usize + 2), Vec::new());
        self.0.iter_mut().for_each(Vec::clear);
    }

    /// The line from this ply ends there, until an action is found to lead it.
    #[inline]
    pub(super) fn end(&mut self, ply: usize) {
        self.0[ply].clear();
    }

    /// The line from this ply is this action and the line from the next ply.
    #[inline]
    pub(super) fn lead(&mut self, ply: usize, action: Action) {
        let [line, rest] = &mut self.0[ply..ply + 2] else { unreachable!("a range of two") };
        line.clear();
        line.push(action);
        line.extend_from_slice(rest);
    }

    /// The line from a ply.
    pub(super) fn from(&self, ply: usize) -> &[Action] {
        &self.0[ply]
    }
}

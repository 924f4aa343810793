//! A snapshot of a node's edges for selection. Children are scattered in memory, so each is read once; whether an edge was
//! visited is unpredictable, so scores are computed without branches.

use turnstone_env::Rules;

use super::tree::{Edge, NodeId, Tree};

/// Value for the mover of an edge that is proven lost.
pub(super) const LOST: f32 = f32::NEG_INFINITY;

/// An edge and what its child says.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeStats {
    pub(super) prior: f32,
    /// Value for the node's mover: exact or [`LOST`] if it is proven, else the mean over the visits; NaN without any (see
    /// [`EdgeStats::is_visited`]).
    pub(super) q: f32,
    /// Visits that have been counted; at least one if it is proven.
    pub(super) count: f32,
    /// `count` and the visits still in flight in other threads.
    pub(super) started: f32,
    /// Selection score, written by `puct::select` or `gumbel::select`.
    pub(super) score: f32,
}

impl EdgeStats {
    /// `sign` takes values for the first side to values for the node's mover.
    #[inline]
    pub(super) fn of<G: Rules>(tree: &Tree<G>, edge: &Edge, sign: f32) -> Self {
        let visits = tree.visits(edge);
        let (count, started) = (visits.count as f32, visits.started as f32);
        let mut seen = Self { prior: edge.prior, q: sign * (visits.value_sum / count), count, started, score: 0.0 };
        if let Some(value) = edge.proven.get() {
            seen.count = count.max(1.0);
            seen.q = match sign * f32::from(value) {
                0.0 => sign * tree.draw_value,
                value if value < 0.0 => LOST,
                win => win,
            };
        }
        seen
    }

    /// The edges of a node.
    pub(super) fn all<G: Rules>(tree: &Tree<G>, node: NodeId) -> impl Iterator<Item = Self> {
        let sign = tree.node(node).mover.sign();
        tree.edges_of(node).iter().map(move |edge| Self::of(tree, edge, sign))
    }

    /// Whether [`EdgeStats::q`] is a number.
    #[inline]
    pub(super) fn is_visited(&self) -> bool {
        self.count > 0.0
    }

    #[inline]
    pub(super) fn is_lost(&self) -> bool {
        self.q == LOST
    }
}

/// A running arg-max without a branch; ties keep the first index.
#[derive(Clone, Copy)]
pub(super) struct Best {
    pub(super) score: f32,
    pub(super) at: u32,
}

impl Best {
    /// Nothing better than `score` yet.
    pub(super) fn above(score: f32) -> Self {
        Self { score, at: 0 }
    }

    /// Takes a number if it is `eligible` and greater than those before.
    #[inline]
    pub(super) fn take(&mut self, score: f32, at: u32, eligible: bool) {
        let better = eligible & (score > self.score);
        self.score = if better { score } else { self.score };
        self.at = if better { at } else { self.at };
    }
}

//! A search tree kept whole in memory, for the searches that need all of it: breadth-first and best-first.

use std::ops::Range;

use turnstone_env::{Action, ActionList, Rules};

use super::found::{SearchStats, prefers};
use super::heuristic::Heuristic;

/// The number of positions that a tree may reach before no further level or position is added.
pub const MOST_POSITIONS: usize = 2_000_000;

/// Positions with the minimax scores of those below them; number 0 is the root. Scores of positions without children
/// are static.
#[derive(Debug)]
pub(super) struct KeptTree<G: Rules, H> {
    pub(super) game: G,
    pub(super) heuristic: H,
    nodes: Vec<Node<G::State>>,
    pub(super) legal: ActionList,
    pub(super) stats: SearchStats,
}

#[derive(Clone, Debug)]
struct Node<S> {
    state: S,
    /// The action that leads here.
    action: Action,
    parent: usize,
    children: Range<usize>,
    score: i32,
}

impl<G: Rules, H: Heuristic<G>> KeptTree<G, H> {
    pub(super) fn new(game: &G, heuristic: H) -> Self {
        Self {
            game: game.clone(),
            heuristic,
            nodes: Vec::new(),
            legal: ActionList::new(),
            stats: SearchStats::default(),
        }
    }

    /// Resets the tree to this position alone, without a score. Memory for the largest tree is reserved at once: growing
    /// would copy all positions, during which the search could not be stopped. Reserved pages that are never written cost
    /// nothing.
    pub(super) fn set_root(&mut self, state: &G::State) {
        _ = self.nodes.try_reserve_exact(MOST_POSITIONS.saturating_sub(self.nodes.len()));
        self.stats = SearchStats::default();
        self.nodes.clear();
        self.nodes.push(Node { state: *state, action: Action(0), parent: 0, children: 0..0, score: 0 });
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn state(&self, node: usize) -> &G::State {
        &self.nodes[node].state
    }

    pub(super) fn score(&self, node: usize) -> i32 {
        self.nodes[node].score
    }

    pub(super) fn is_over(&self, node: usize) -> bool {
        self.game.outcome(&self.nodes[node].state).is_some()
    }

    /// Whether every position without children is a finished game.
    pub(super) fn is_complete(&self) -> bool {
        (0..self.len()).all(|node| !self.nodes[node].children.is_empty() || self.is_over(node))
    }

    /// Adds the children of a position that has none; a finished game gets none.
    pub(super) fn expand(&mut self, node: usize) -> Range<usize> {
        let (first, state) = (self.nodes.len(), self.nodes[node].state);
        self.game.legal(&state, &mut self.legal);
        if !self.legal.is_empty() {
            self.stats.expand(self.legal.len());
            self.stats.nodes += self.legal.len() as u64;
        }
        for &action in &self.legal {
            let mut next = state;
            self.game.play(&mut next, action);
            self.nodes.push(Node { state: next, action, parent: node, children: 0..0, score: 0 });
        }
        self.nodes[node].children = first..self.nodes.len();
        first..self.nodes.len()
    }

    /// Sets a position's score to that of its best child, or to its static score if it has none; returns its parent if
    /// that changed it.
    pub(super) fn update(&mut self, node: usize) -> Option<usize> {
        let score = match self.best_child(node) {
            Some(child) => self.nodes[child].score,
            None => self.evaluate(node),
        };
        let changed = std::mem::replace(&mut self.nodes[node].score, score) != score;
        (changed && node != 0).then(|| self.nodes[node].parent)
    }

    fn evaluate(&mut self, node: usize) -> i32 {
        self.stats.evaluated += 1;
        let state = &self.nodes[node].state;
        match self.game.outcome(state) {
            Some(outcome) => self.heuristic.final_score(&self.game, state, &outcome),
            None => self.heuristic.estimate(&self.game, state),
        }
    }

    /// The first of the best children.
    fn best_child(&self, node: usize) -> Option<usize> {
        let Node { state, children, .. } = &self.nodes[node];
        let mover = self.game.mover(state);
        children.clone().reduce(|best, child| {
            if prefers(mover, self.nodes[child].score, self.nodes[best].score) { child } else { best }
        })
    }

    /// The positions of the best line below the root.
    fn best_line(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.best_child(0), |&node| self.best_child(node))
    }

    /// The position at the end of the best line.
    pub(super) fn end_of_best_line(&self) -> usize {
        self.best_line().last().unwrap_or(0)
    }

    /// The actions of the best line.
    pub(super) fn best_actions(&self) -> Vec<Action> {
        self.best_line().map(|node| self.nodes[node].action).collect()
    }
}

//! Breadth-first search: all positions of one level before those of the next.

use std::ops::Range;

use turnstone_env::Rules;

use super::found::SearchResult;
use super::game_tree::{KeptTree, MOST_POSITIONS};
use super::heuristic::Heuristic;
use super::limits::{Control, Limits, NODES_PER_LOOK, Watch};

/// Breadth-first search to a fixed depth (two plies in Konane's exercise): positions are generated level by level, those
/// of the last level and finished games are evaluated statically, and scores are backed up by minimax.
///
/// The result is that of [`Minimax`](super::Minimax) to the same depth. Since every position is kept, the search ends
/// before a level that would exceed [`MOST_POSITIONS`].
#[derive(Debug)]
pub struct BreadthFirst<G: Rules, H> {
    tree: KeptTree<G, H>,
}

impl<G: Rules, H: Heuristic<G>> BreadthFirst<G, H> {
    /// A search of this game with this evaluation.
    pub fn new(game: &G, heuristic: H) -> Self {
        Self { tree: KeptTree::new(game, heuristic) }
    }

    /// The evaluation.
    pub fn heuristic(&self) -> &H {
        &self.tree.heuristic
    }

    /// The best action after generating `depth` levels of positions.
    pub fn search(&mut self, state: &G::State, depth: u32) -> SearchResult {
        self.search_within(state, depth, &Limits::default(), &Control::default())
    }

    /// Like [`BreadthFirst::search`], within limits. The result has no action if a limit or the flag ends the search
    /// first.
    pub fn search_within(&mut self, state: &G::State, depth: u32, limits: &Limits, control: &Control) -> SearchResult {
        let mut watch = Watch::start(limits, control);
        let tree = &mut self.tree;
        tree.set_root(state);
        let (mut level, mut reached) = (0..1, 0);
        while reached < depth && !level.is_empty() && fits(tree, level.clone(), &mut watch) {
            let next = tree.len();
            for node in level {
                if watch.is_over(tree.stats.nodes) {
                    break;
                }
                tree.expand(node);
            }
            level = next..tree.len();
            reached += 1;
        }
        for node in (0..tree.len()).rev() {
            if goes_on(node, tree, &mut watch) {
                tree.update(node);
            }
        }
        if watch.stopped() {
            return SearchResult { stats: tree.stats, ..SearchResult::default() };
        }
        let line = tree.best_actions();
        let (action, score, complete) = (line.first().copied(), tree.score(0), tree.is_complete());
        SearchResult { action, score, depth: reached, complete, line, stats: tree.stats }
    }
}

/// Whether a loop over all nodes may continue with this one.
fn goes_on<G: Rules, H: Heuristic<G>>(node: usize, tree: &KeptTree<G, H>, watch: &mut Watch) -> bool {
    if (node as u64).is_multiple_of(NODES_PER_LOOK) {
        watch.look(tree.stats.nodes);
    }
    !watch.stopped()
}

/// Whether the tree keeps to its size with the level below this one.
fn fits<G: Rules, H: Heuristic<G>>(tree: &mut KeptTree<G, H>, level: Range<usize>, watch: &mut Watch) -> bool {
    let mut positions = tree.len();
    for node in level {
        if !goes_on(node, tree, watch) {
            return false;
        }
        let state = *tree.state(node);
        tree.game.legal(&state, &mut tree.legal);
        positions += tree.legal.len();
    }
    positions <= MOST_POSITIONS
}

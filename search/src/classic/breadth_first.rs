//! Breadth-first search: all positions of one level before those of the next.

use std::ops::Range;

use turnstone_env::Game;

use super::Heuristic;
use super::found::Found;
use super::kept_tree::KeptTree;

/// Breadth-first search to a fixed depth, two plies in Konane's exercise: the positions after every action, then those
/// after every answer, and so on; the positions of the last level and finished games are evaluated statically, and the
/// scores go back up by minimax.
///
/// It therefore chooses what [`Minimax`](super::Minimax) to the same depth chooses. The difference is in the order and in
/// the memory: it keeps every position, so it stops at a level that could pass [`MOST_POSITIONS`].
#[derive(Debug)]
pub struct BreadthFirst<G: Game, H> {
    tree: KeptTree<G, H>,
}

/// No level is begun that makes the tree larger than this.
pub const MOST_POSITIONS: usize = 2_000_000;

impl<G: Game, H: Heuristic<G>> BreadthFirst<G, H> {
    /// A search of this game with this evaluation.
    pub fn new(game: &G, heuristic: H) -> Self {
        Self { tree: KeptTree::new(game, heuristic) }
    }

    /// The evaluation.
    pub fn heuristic(&self) -> &H {
        &self.tree.heuristic
    }

    /// The best action after generating `depth` levels of positions.
    pub fn search(&mut self, state: &G::State, depth: u32) -> Found {
        let tree = &mut self.tree;
        tree.plant(state);
        let (mut level, mut reached) = (0..1, 0);
        while reached < depth && !level.is_empty() && fits(tree, level.clone()) {
            let next = tree.len();
            level.for_each(|node| _ = tree.expand(node));
            level = next..tree.len();
            reached += 1;
        }
        (0..tree.len()).rev().for_each(|node| _ = tree.update(node));
        let line = tree.best_actions();
        let (action, score, complete) = (line.first().copied(), tree.score(0), tree.is_complete());
        Found { action, score, depth: reached, complete, line, work: tree.work }
    }
}

/// Whether the tree keeps to its size with the level below this one.
fn fits<G: Game, H: Heuristic<G>>(tree: &mut KeptTree<G, H>, level: Range<usize>) -> bool {
    let mut positions = tree.len();
    for node in level {
        let state = *tree.state(node);
        tree.game.legal(&state, &mut tree.legal);
        positions += tree.legal.len();
    }
    positions <= MOST_POSITIONS
}

//! Best-first search: the position at the end of the best line is expanded next.

use turnstone_env::Rules;

use super::found::SearchResult;
use super::game_tree::{KeptTree, MOST_POSITIONS};
use super::heuristic::Heuristic;
use super::limits::{Control, Limits, Watch};

/// Best-first minimax search (Korf and Chickering, 1996): A* adapted to two players.
///
/// A* expands the open position of the most promising path. Here too the whole tree is kept, and the position expanded
/// next is the one at the end of the best line: every position has the minimax score of those below it, and from the
/// root the line follows the best action of the player to move. The new positions are evaluated statically, the scores
/// above them change, and so may the best line. The estimate plays the part of A*'s heuristic; there is no path cost,
/// since a long line is not worse than a short one. The search ends after a number of positions, or when the best line
/// ends in a finished game.
#[derive(Debug)]
pub struct BestFirst<G: Rules, H> {
    tree: KeptTree<G, H>,
}

impl<G: Rules, H: Heuristic<G>> BestFirst<G, H> {
    /// A search of this game with this evaluation.
    pub fn new(game: &G, heuristic: H) -> Self {
        Self { tree: KeptTree::new(game, heuristic) }
    }

    /// The evaluation.
    pub fn heuristic(&self) -> &H {
        &self.tree.heuristic
    }

    /// The best action after `positions` positions have been evaluated, at most [`MOST_POSITIONS`]. All children of a
    /// position are evaluated together, so it may be a few more; the root's always are. The depth in the result is the
    /// length of the best line.
    pub fn search(&mut self, state: &G::State, positions: u64) -> SearchResult {
        self.search_within(state, positions, &Limits::default(), &Control::default())
    }

    /// Like [`BestFirst::search`], within limits. If a limit or the flag ends the search, the result is the best so far.
    /// The limit on the depth ends it when the best line is that long.
    pub fn search_within(
        &mut self,
        state: &G::State,
        positions: u64,
        limits: &Limits,
        control: &Control,
    ) -> SearchResult {
        let mut watch = Watch::start(limits, control);
        let tree = &mut self.tree;
        let most = positions.min(MOST_POSITIONS as u64);
        tree.set_root(state);
        loop {
            let leaf = tree.end_of_best_line();
            let deep = limits.depth.is_some_and(|most| tree.best_actions().len() >= most as usize);
            let enough = deep || tree.stats.nodes >= most || watch.is_over(tree.stats.nodes);
            if (leaf != 0 && enough) || tree.is_over(leaf) {
                break;
            }
            tree.expand(leaf).for_each(|child| _ = tree.update(child));
            let mut changed = Some(leaf);
            while let Some(node) = changed {
                changed = tree.update(node);
            }
        }
        if tree.len() == 1 {
            tree.update(0); // the game is over
        }
        let line = tree.best_actions();
        let (action, depth) = (line.first().copied(), line.len() as u32);
        let complete = !watch.stopped() && tree.is_complete();
        SearchResult { action, score: tree.score(0), depth, complete, line, stats: tree.stats }
    }
}

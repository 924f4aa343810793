//! Best-first search: always the position at the end of the best line is looked at more closely.

use turnstone_env::Game;

use super::found::Found;
use super::heuristic::Heuristic;
use super::kept_tree::{KeptTree, MOST_POSITIONS};
use super::limits::{Control, Limits, Watch};

/// Best-first minimax search (Korf and Chickering, 1996): what becomes of A* when an opponent chooses too.
///
/// A* expands the open position of the most promising path. Here too the whole tree is kept, and the position expanded
/// next is the one at the end of the best line: every position has the minimax score of those below it, and from the
/// root the line follows the best action of whoever is to move. The new positions are evaluated statically, the scores
/// above them change, and so may the best line. The estimate stands for all that is to come, as in A*; the path has no
/// cost of its own to add, for a line is not worse for being long. The search ends after so many positions, or when the
/// best line ends in a finished game.
#[derive(Debug)]
pub struct BestFirst<G: Game, H> {
    tree: KeptTree<G, H>,
}

impl<G: Game, H: Heuristic<G>> BestFirst<G, H> {
    /// A search of this game with this evaluation.
    pub fn new(game: &G, heuristic: H) -> Self {
        Self { tree: KeptTree::new(game, heuristic) }
    }

    /// The evaluation.
    pub fn heuristic(&self) -> &H {
        &self.tree.heuristic
    }

    /// The best action after `positions` positions have been evaluated, two million at most. All children of a position
    /// are evaluated with it, so that it may be a few more, and the root's always are. The depth found is the length of
    /// the best line.
    pub fn search(&mut self, state: &G::State, positions: u64) -> Found {
        self.search_within(state, positions, &Limits::default(), &Control::default())
    }

    /// The same, unless a limit or the flag ends it sooner, with the best action so far.
    pub fn search_within(&mut self, state: &G::State, positions: u64, limits: &Limits, control: &Control) -> Found {
        let mut watch = Watch::start(limits, control);
        let tree = &mut self.tree;
        let most = positions.min(MOST_POSITIONS as u64);
        tree.plant(state);
        loop {
            let leaf = tree.end_of_best_line();
            let enough = tree.work.nodes >= most || watch.is_over(tree.work.nodes);
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
        Found { action, score: tree.score(0), depth, complete, line, work: tree.work }
    }
}

//! Monte Carlo tree search with an [`Evaluator`], in steps that a caller can interleave over many games: [`Mcts::gather`]
//! descends to a position to be evaluated, [`Mcts::apply`] takes the evaluation.
//!
//! ```
//! use rand::SeedableRng;
//! use turnstone_env::{Game, games::MuTorere};
//! use turnstone_search::{Mcts, SearchOptions, Uniform};
//!
//! let game = MuTorere::default();
//! let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
//! let mut search = Mcts::new(&game, game.start());
//! search.begin(&game, &SearchOptions::default(), 200, &mut rng);
//! search.run(&game, &mut Uniform);
//! let action = search.choose(0.0, &mut rng); // the winner of the sequential halving, proven results first
//! search.advance(&game, action); // keeps what was searched below it
//! ```

mod method;
mod tree;
mod puct;
mod gumbel;
mod backup;
mod proof;
mod choice;
#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod selection_tests;
#[cfg(test)]
mod tests;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{Action, ActionList, Game, Side};

pub use self::choice::RootAction;
pub use self::method::{Gumbel, Method, Puct, RootNoise};
use crate::evaluator::{EvalBatch, Evaluation, Evaluator};
use proof::Prover;
use tree::{Edge, EdgeId, NO_NODE, NodeId, Tree};

/// How a search is begun: its method, and what goes with any method.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct SearchOptions {
    /// Selection rule.
    pub method: Method,
    /// Maximum number of positions of a proof-number search that looks at every new position below the root before it is
    /// evaluated: one whose result it proves counts as if the game were over there. 0: none.
    ///
    /// The work grows by up to as many positions per simulation, which pays where games are decided by many narrow
    /// lines at the end (`docs/lab/proof-search.md`).
    pub proof_nodes: u32,
    /// Value of a draw for the side to move at the root, from -1 (a loss) to 1 (a win). Selection and choice use it, while
    /// reported values remain expected results. A tree that was built with another value is cleared.
    pub draw: f32,
}

impl From<Method> for SearchOptions {
    fn from(method: Method) -> Self {
        Self { method, proof_nodes: 0, draw: 0.0 }
    }
}

/// State of a simulation after [`Mcts::step`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchStep {
    /// Its last position is to be evaluated.
    Leaf,
    /// It ended in a proven position.
    Finished,
    /// No simulation was begun: all are done, or the root is proven.
    Done,
}

/// Size of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeSize {
    /// Positions in it.
    pub nodes: u64,
    /// Bytes of its nodes and edges.
    pub bytes: u64,
}

/// The search of one game.
#[derive(Clone, Debug)]
pub struct Mcts<G: Game> {
    options: SearchOptions,
    tree: Tree<G>,
    /// The other arena for [`Mcts::advance`].
    spare: Tree<G>,
    /// Nodes and the edges taken from them, from the root to the pending leaf.
    path: Vec<(NodeId, EdgeId)>,
    pending: NodeId,
    legal: ActionList,
    /// Buffer of a selection.
    weights: Vec<f32>,
    /// Simulations still to run.
    left: u32,
    /// State of the sequential halving.
    gumbel: gumbel::Root,
    /// Seed of the root's noise, until the root is expanded.
    unprepared: Option<u64>,
    prover: Prover<G>,
}

impl<G: Game> Mcts<G> {
    /// A search rooted at `state`, with nothing to do until [`Mcts::begin`].
    pub fn new(game: &G, state: G::State) -> Self {
        let mut tree = Tree::default();
        tree.add(game, state);
        Self {
            options: SearchOptions::default(),
            tree,
            spare: Tree::default(),
            path: Vec::new(),
            pending: NO_NODE,
            legal: ActionList::new(),
            weights: Vec::new(),
            left: 0,
            gumbel: gumbel::Root::default(),
            unprepared: None,
            prover: Prover::default(),
        }
    }

    /// Clears the tree and roots the search at `state`. The memory is kept.
    pub fn reset(&mut self, game: &G, state: G::State) {
        self.tree.clear();
        self.tree.add(game, state);
        self.left = 0;
        self.pending = NO_NODE;
    }

    /// Reserves memory for a tree of `bytes` bytes, if it is available. A tree that outgrows its memory is copied, which
    /// takes long for a large one, and the search cannot be stopped meanwhile. Reserved pages that are never written cost
    /// nothing.
    pub fn reserve(&mut self, bytes: u64) {
        self.tree.reserve(bytes as usize);
        self.spare.reserve(bytes as usize);
    }

    /// Starts a search of `simulations` simulations (at least one) from the root. The expansion of a new root is not
    /// counted.
    pub fn begin(&mut self, game: &G, options: &SearchOptions, simulations: u32, rng: &mut impl Rng) {
        self.options = *options;
        let draw = self.mover().sign() * options.draw;
        if self.tree.draw_value != draw {
            (self.tree.draw_value, self.spare.draw_value) = (draw, draw);
            self.reset(game, self.tree.nodes[0].state);
        }
        self.left = simulations.max(1);
        self.unprepared = Some(rng.random());
        if self.tree.nodes[0].expanded {
            self.prepare_root();
        }
    }

    /// Descends to the next position to be evaluated and returns it with its legal actions. `None` if the simulations are
    /// done or the root is proven. Simulations that end in proven positions are completed without evaluation.
    pub fn gather(&mut self, game: &G) -> Option<(&G::State, &[Action])> {
        loop {
            match self.step(game) {
                SearchStep::Finished => {}
                SearchStep::Leaf => return Some(self.leaf()),
                SearchStep::Done => return None,
            }
        }
    }

    /// Begins one simulation, for callers that check limits after each: [`Mcts::gather`] may run many of them before it
    /// returns.
    pub fn step(&mut self, game: &G) -> SearchStep {
        assert_eq!(self.pending, NO_NODE, "the last evaluation has to be applied first");
        if self.left == 0 || self.tree.nodes[0].proven.is_some() {
            return SearchStep::Done;
        }
        self.left -= u32::from(self.tree.nodes[0].expanded);
        let leaf = self.descend(game);
        if self.tree.nodes[leaf as usize].proven.is_some() {
            backup::backup(&mut self.tree, &self.path, leaf, Evaluation::default());
            return SearchStep::Finished;
        }
        self.pending = leaf;
        if leaf != 0
            && self.options.proof_nodes > 0
            && let Some(value) =
                self.prover.value(game, &self.tree.nodes[leaf as usize].state, self.options.proof_nodes)
        {
            self.settle(value);
            return SearchStep::Finished;
        }
        game.legal(&self.tree.nodes[leaf as usize].state, &mut self.legal);
        SearchStep::Leaf
    }

    /// The position to be evaluated after [`SearchStep::Leaf`], with its legal actions.
    ///
    /// # Panics
    /// If there is none.
    pub fn leaf(&self) -> (&G::State, &[Action]) {
        (&self.tree.nodes[self.pending as usize].state, &self.legal)
    }

    /// Takes the evaluation of the position that [`Mcts::gather`] returned: priors of its legal actions, and its value.
    pub fn apply(&mut self, priors: &[f32], estimate: Evaluation) {
        let leaf = std::mem::replace(&mut self.pending, NO_NODE);
        assert_ne!(leaf, NO_NODE, "no position is to be evaluated");
        self.tree.expand(leaf, &self.legal, priors, estimate);
        backup::backup(&mut self.tree, &self.path, leaf, estimate);
        if leaf == 0 {
            self.prepare_root();
        }
    }

    /// Takes the exact value for the first side of the position that [`Mcts::gather`] returned, which is then proven as if
    /// the game were over there.
    ///
    /// # Panics
    /// If the position is the root, whose actions need priors.
    pub fn settle(&mut self, value: i8) {
        let leaf = std::mem::replace(&mut self.pending, NO_NODE);
        assert!(leaf != NO_NODE && leaf != 0, "a position below the root is to be evaluated");
        self.tree.nodes[leaf as usize].proven = Some(value);
        backup::backup(&mut self.tree, &self.path, leaf, Evaluation::exact(value));
    }

    /// Runs the simulations to their end with one evaluator, one position at a time.
    pub fn run<E: Evaluator<G> + ?Sized>(&mut self, game: &G, evaluator: &mut E) {
        let mut batch = EvalBatch::default();
        while let Some((state, legal)) = self.gather(game) {
            batch.clear();
            batch.push(*state, legal);
            evaluator.evaluate(game, &mut batch);
            let (priors, estimate) = batch.answer(0);
            self.apply(priors, estimate);
        }
    }

    /// Moves the root along an action and keeps the subtree below it.
    pub fn advance(&mut self, game: &G, action: Action) {
        self.advance_along(game, &[action], &mut || true);
    }

    /// Moves the root along actions and keeps the subtree below the last of them. The subtree is copied, which takes long
    /// for a large one: `go_on` is called regularly, and if it returns false the subtree is discarded.
    pub fn advance_along(&mut self, game: &G, actions: &[Action], go_on: &mut dyn FnMut() -> bool) {
        let step = |node: NodeId, action: &Action| {
            let edge = self.tree.edges_of(node).iter().find(|edge| edge.action == *action)?;
            (edge.child != NO_NODE).then_some(edge.child)
        };
        let kept = actions.iter().try_fold(0, step);
        if kept.is_some_and(|node| self.tree.copy_subtree(node, &mut self.spare, go_on)) {
            std::mem::swap(&mut self.tree, &mut self.spare);
            self.left = 0;
            self.tree.open_root(game);
        } else {
            let mut state = self.tree.nodes[0].state;
            actions.iter().for_each(|&action| game.play(&mut state, action));
            self.reset(game, state);
        }
    }

    /// Number of simulations that remain to be run; not 0 if the root was proven before the end.
    pub fn simulations_left(&self) -> u32 {
        self.left
    }

    /// Size of the tree.
    pub fn size(&self) -> TreeSize {
        let [nodes, edges] = [self.tree.nodes.len(), self.tree.edges.len()];
        let bytes = nodes * size_of::<tree::Node<G::State>>() + edges * size_of::<Edge>();
        TreeSize { nodes: nodes as u64, bytes: bytes as u64 }
    }

    /// The position at the root.
    pub fn state(&self) -> &G::State {
        &self.tree.nodes[0].state
    }

    /// The side to move at the root.
    pub fn mover(&self) -> Side {
        self.tree.nodes[0].mover
    }

    /// The exact value of the root for the first side, if it is proven.
    pub fn proven(&self) -> Option<i8> {
        self.tree.nodes[0].proven
    }

    /// Follows the selection from the root to a node without edges, adds it if it is new, and records the path.
    fn descend(&mut self, game: &G) -> NodeId {
        self.path.clear();
        let mut node: NodeId = 0;
        while self.tree.nodes[node as usize].expanded && (node == 0 || self.tree.nodes[node as usize].proven.is_none())
        {
            let id = self.select(node);
            self.path.push((node, id));
            let edge = self.tree.edges[id as usize];
            if edge.child == NO_NODE {
                let mut state = self.tree.nodes[node as usize].state;
                game.play(&mut state, edge.action);
                let child = self.tree.add(game, state);
                self.tree.edges[id as usize].child = child;
                return child;
            }
            node = edge.child;
        }
        node
    }

    fn select(&mut self, node: NodeId) -> EdgeId {
        match &self.options.method {
            Method::Puct(config) => puct::select(&self.tree, node, config),
            Method::Gumbel(config) if node == 0 => self.gumbel.select(&self.tree, config),
            Method::Gumbel(config) => gumbel::select(&self.tree, node, config, &mut self.weights),
        }
    }

    /// Mixes noise into the root, which is expanded, or samples the actions to be considered.
    fn prepare_root(&mut self) {
        let Some(seed) = self.unprepared.take() else { return };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        match &self.options.method {
            Method::Puct(Puct { noise: Some(noise), .. }) => {
                puct::add_noise(self.tree.edges_of_mut(0), *noise, &mut rng);
            }
            Method::Puct(_) => {}
            Method::Gumbel(config) => self.gumbel.begin(&self.tree, config, self.left, &mut rng),
        }
    }
}

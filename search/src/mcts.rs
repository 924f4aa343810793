//! Monte Carlo tree search with an [`Evaluator`], in steps that a caller can interleave over many games: [`Mcts::gather`]
//! descends to a position to be evaluated, [`Mcts::apply`] takes the evaluation.
//!
//! ```
//! use rand::SeedableRng;
//! use turnstone_env::{Game, games::MuTorere};
//! use turnstone_search::{Mcts, Method, Uniform};
//!
//! let game = MuTorere::default();
//! let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
//! let mut search = Mcts::new(&game, game.start());
//! search.begin(&Method::default(), 200, &mut rng);
//! search.run(&game, &mut Uniform);
//! let action = search.choose(0.0, &mut rng); // the winner of the sequential halving, proven results first
//! search.advance(&game, action); // keeps what was searched below it
//! ```

mod method;
mod tree;
mod puct;
mod gumbel;
mod backup;
#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod selection_tests;
#[cfg(test)]
mod tests;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{Action, ActionList, Game, Side};

pub use self::method::{Gumbel, Method, Puct, RootNoise};
use crate::evaluator::{EvalBatch, Evaluation, Evaluator};
use tree::{Edge, EdgeId, NO_NODE, Node, NodeId, Tree};

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

/// A legal action at the root after a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RootAction {
    /// The action.
    pub action: Action,
    /// Its prior, with the root noise of the search.
    pub prior: f32,
    /// Simulations that went through it.
    pub visits: u32,
    /// Its value for the first side, -1..=1; the mean over its simulations, or exact where proven. 0 if unvisited.
    pub value: f32,
    /// The exact value for the first side, if proven.
    pub proven: Option<i8>,
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
    method: Method,
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
}

impl<G: Game> Mcts<G> {
    /// A search rooted at `state`, with nothing to do until [`Mcts::begin`].
    pub fn new(game: &G, state: G::State) -> Self {
        let mut tree = Tree::default();
        tree.add(game, state);
        Self {
            method: Method::default(),
            tree,
            spare: Tree::default(),
            path: Vec::new(),
            pending: NO_NODE,
            legal: ActionList::new(),
            weights: Vec::new(),
            left: 0,
            gumbel: gumbel::Root::default(),
            unprepared: None,
        }
    }

    /// Clears the tree and roots the search at `state`. The memory is kept.
    pub fn reset(&mut self, game: &G, state: G::State) {
        self.tree.clear();
        self.tree.add(game, state);
        self.left = 0;
        self.pending = NO_NODE;
    }

    /// Sets the value of a draw for `side`, from -1 (a loss) to 1 (a win); the default is 0. Selection and choice use it,
    /// while reported values remain expected results. A tree that was built with another value is cleared.
    pub fn set_contempt(&mut self, game: &G, side: Side, value: f32) {
        let value = side.sign() * value;
        if self.tree.draw_value != value {
            (self.tree.draw_value, self.spare.draw_value) = (value, value);
            self.reset(game, self.tree.nodes[0].state);
        }
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
    pub fn begin(&mut self, method: &Method, simulations: u32, rng: &mut impl Rng) {
        self.method = *method;
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

    /// The value of the root: exact if proven, else the mean over the simulations; after Gumbel search the mean over the
    /// visited actions, weighted by the improved policy.
    pub fn estimate(&self) -> Evaluation {
        let root = &self.tree.nodes[0];
        match &self.method {
            Method::Gumbel(config) if root.proven.is_none() => gumbel::improved_estimate(&self.tree, 0, config),
            _ => None,
        }
        .unwrap_or_else(|| root.estimate())
    }

    /// The results for the legal actions of the root, in increasing order. Empty before the first simulation and in a
    /// finished game.
    pub fn actions(&self) -> impl Iterator<Item = RootAction> + '_ {
        self.tree.edges_of(0).iter().map(|edge| {
            let child = self.tree.nodes.get(edge.child as usize).map(Node::estimate);
            RootAction {
                action: edge.action,
                prior: edge.prior,
                visits: edge.visits,
                value: child.map_or(0.0, |estimate| estimate.value),
                proven: edge.proven,
            }
        })
    }

    /// Writes the policy over the root's legal actions that results from the search, of sum 1: the distribution of visits,
    /// or the improved policy of Gumbel search. Actions proven worse than the best proven action have probability 0.
    pub fn policy(&self, out: &mut Vec<f32>) {
        let mover = self.tree.nodes[0].mover;
        let edges = self.tree.edges_of(0);
        out.clear();
        match &self.method {
            Method::Puct(config) if config.forced_playouts > 0.0 => puct::pruned_visits(&self.tree, config, out),
            Method::Puct(_) => out.extend(edges.iter().map(|edge| edge.visits as f32)),
            Method::Gumbel(config) => gumbel::improved_policy(&self.tree, 0, config, out),
        }
        let sure = edges.iter().filter_map(|edge| self.proven_for(edge, mover)).max().unwrap_or(-1);
        let all_proven = edges.iter().all(|edge| self.proven_for(edge, mover).is_some());
        let keep = |edge: &Edge| match self.proven_for(edge, mover) {
            Some(value) => value == sure && (value > -1 || all_proven),
            None => sure < 1,
        };
        for (share, edge) in out.iter_mut().zip(edges) {
            *share = if keep(edge) { *share } else { 0.0 };
        }
        if out.iter().all(|&share| share == 0.0) {
            // Every action left has probability 0, as before the first simulation: the priors decide.
            let prior = |edge: &Edge| if keep(edge) { edge.prior.max(f32::MIN_POSITIVE) } else { 0.0 };
            out.iter_mut().zip(edges).for_each(|(share, edge)| *share = prior(edge));
        }
        let sum: f32 = out.iter().sum();
        out.iter_mut().for_each(|share| *share /= sum);
    }

    /// The action to play. After PUCT it is drawn from the policy sharpened by a temperature: 0 takes the greatest (the
    /// first among equals), 1 draws from the policy as it is. After Gumbel search it is the winner of the sequential
    /// halving, whose randomness is the noise at its root, and the temperature matters only once the root is proven.
    ///
    /// # Panics
    /// If no simulation has been run or the game is over.
    pub fn choose(&self, temperature: f32, rng: &mut impl Rng) -> Action {
        let edges = self.tree.edges_of(0);
        assert!(!edges.is_empty(), "a running position has to be searched before an action is chosen");
        if let Method::Gumbel(config) = &self.method
            && self.proven().is_none()
        {
            return edges[self.gumbel.choose(&self.tree, config)].action;
        }
        let mut weights = Vec::new();
        self.policy(&mut weights);
        edges[draw(&mut weights, temperature, rng)].action
    }

    /// The expected line: from the root the most visited actions, proven results first.
    pub fn principal_variation(&self) -> Vec<Action> {
        let mut line = Vec::new();
        self.follow(0, &mut line);
        line
    }

    /// The expected line if this action is played at the root; that action alone if it has not been searched.
    pub fn line(&self, action: Action) -> Vec<Action> {
        let mut line = vec![action];
        match self.tree.edges_of(0).iter().find(|edge| edge.action == action) {
            Some(edge) if edge.child != NO_NODE => self.follow(edge.child, &mut line),
            _ => {}
        }
        line
    }

    fn follow(&self, mut node: NodeId, line: &mut Vec<Action>) {
        loop {
            let mover = self.tree.nodes[node as usize].mover;
            let rank = |edge: &Edge| (self.proven_for(edge, mover).filter(|&v| v != 0).unwrap_or(0), edge.visits);
            let edges = self.tree.edges_of(node);
            let Some(best) = edges.iter().rev().filter(|edge| edge.visits > 0).max_by_key(|edge| rank(edge)) else {
                return;
            };
            line.push(best.action);
            node = best.child;
        }
    }

    fn proven_for(&self, edge: &Edge, mover: Side) -> Option<i8> {
        edge.proven.map(|value| match mover {
            Side::First => value,
            Side::Second => -value,
        })
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
        match &self.method {
            Method::Puct(config) => puct::select(&self.tree, node, config),
            Method::Gumbel(config) if node == 0 => self.gumbel.select(&self.tree, config),
            Method::Gumbel(config) => gumbel::select(&self.tree, node, config, &mut self.weights),
        }
    }

    /// Mixes noise into the root, which is expanded, or samples the actions to be considered.
    fn prepare_root(&mut self) {
        let Some(seed) = self.unprepared.take() else { return };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        match &self.method {
            Method::Puct(Puct { noise: Some(noise), .. }) => {
                puct::add_noise(self.tree.edges_of_mut(0), *noise, &mut rng);
            }
            Method::Puct(_) => {}
            Method::Gumbel(config) => self.gumbel.begin(self.tree.edges_of(0), config, self.left, &mut rng),
        }
    }
}

/// Draws an index from weights that are not all zero, sharpened by a temperature; 0 takes the greatest, the first among
/// equals.
fn draw(weights: &mut [f32], temperature: f32, rng: &mut impl Rng) -> usize {
    let greatest = weights.iter().copied().fold(0.0, f32::max);
    if temperature <= 0.0 {
        return weights.iter().position(|&w| w == greatest).expect("the greatest is one of them");
    }
    weights.iter_mut().for_each(|w| *w = (*w / greatest).powf(1.0 / temperature));
    let mut point = rng.random::<f32>() * weights.iter().sum::<f32>();
    for (i, weight) in weights.iter().enumerate() {
        if point < *weight {
            return i;
        }
        point -= weight;
    }
    // Rounding can leave a rest: the last index with any weight takes it.
    weights.iter().rposition(|&w| w > 0.0).expect("the greatest weight is 1")
}

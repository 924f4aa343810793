//! Monte Carlo tree search with an [`Evaluator`], in steps that a caller can interleave over many
//! games: [`Mcts::gather`] descends to a position that needs evaluating, [`Mcts::apply`] takes the answer.
//!
//! ```
//! use rand::SeedableRng;
//! use turnstone_env::{Game, games::MuTorere};
//! use turnstone_search::{Mcts, MctsConfig, Uniform};
//!
//! let game = MuTorere::default();
//! let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
//! let mut search = Mcts::new(&game, game.start());
//! search.begin(&MctsConfig::default(), 200, &mut rng);
//! search.run(&game, &mut Uniform);
//! let action = search.choose(0.0, &mut rng); // the most visited, proven results first
//! search.advance(&game, action); // keeps what was searched below it
//! ```

mod backup;
mod puct;
mod tree;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use turnstone_env::{Action, ActionList, Game, Side};

use crate::evaluator::{Batch, Estimate, Evaluator};
use tree::{Edge, EdgeId, NO_NODE, NodeId, Tree};

/// Dirichlet noise on the root's priors.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct RootNoise {
    /// Total concentration, spread evenly over the legal actions. About 10 in KataGo.
    pub concentration: f32,
    /// Share of the noise in the mixed prior, 0..=1.
    pub fraction: f32,
}

/// The constants of the search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MctsConfig {
    /// Weight of the exploration term.
    pub c_puct: f32,
    /// How much less than its parent an unvisited child is worth, times the root of the visited children's prior mass.
    pub fpu_reduction: f32,
    /// Noise on the root's priors, for self-play.
    pub noise: Option<RootNoise>,
}

impl Default for MctsConfig {
    fn default() -> Self {
        Self { c_puct: 1.25, fpu_reduction: 0.2, noise: None }
    }
}

/// A legal action at the root after a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RootAction {
    /// The action.
    pub action: Action,
    /// Its prior, without noise only if the search had none.
    pub prior: f32,
    /// Simulations that went through it.
    pub visits: u32,
    /// Its value for the first side, -1..=1; the mean over its simulations, or exact where proven. 0 if unvisited.
    pub value: f32,
    /// The exact value for the first side, if proven.
    pub proven: Option<i8>,
}

/// The search of one game.
#[derive(Clone, Debug)]
pub struct Mcts<G: Game> {
    config: MctsConfig,
    tree: Tree<G>,
    /// The other arena for [`Mcts::advance`].
    spare: Tree<G>,
    /// Nodes and the edges taken from them, from the root to the pending leaf.
    path: Vec<(NodeId, EdgeId)>,
    pending: NodeId,
    legal: ActionList,
    /// Simulations still to run.
    left: u32,
    /// Seed of the noise that has still to be mixed into the priors of the root, once it is expanded.
    noise_seed: Option<u64>,
}

impl<G: Game> Mcts<G> {
    /// A search rooted at `state`, with nothing to do until [`Mcts::begin`].
    pub fn new(game: &G, state: G::State) -> Self {
        let mut tree = Tree::default();
        tree.add(game, state);
        Self {
            config: MctsConfig::default(),
            tree,
            spare: Tree::default(),
            path: Vec::new(),
            pending: NO_NODE,
            legal: ActionList::new(),
            left: 0,
            noise_seed: None,
        }
    }

    /// Forgets the tree and roots the search at `state`; the memory is kept.
    pub fn reset(&mut self, game: &G, state: G::State) {
        self.tree.clear();
        self.tree.add(game, state);
        self.left = 0;
        self.pending = NO_NODE;
    }

    /// Sets out to run `simulations` more simulations (at least one) from the root.
    pub fn begin(&mut self, config: &MctsConfig, simulations: u32, rng: &mut impl Rng) {
        self.config = *config;
        // A kept root is expanded already and costs no simulation; a fresh one is expanded by the first.
        self.left = simulations.max(1);
        self.noise_seed = config.noise.map(|_| rng.random());
        if self.tree.nodes[0].expanded {
            self.add_noise();
        }
    }

    /// Descends to the next position that needs evaluating and returns it with its legal actions, or `None` when the
    /// simulations are done or the root is proven. Simulations that end in proven positions are finished on the way.
    pub fn gather(&mut self, game: &G) -> Option<(&G::State, &[Action])> {
        assert_eq!(self.pending, NO_NODE, "the last answer has to be applied first");
        while self.left > 0 && self.tree.nodes[0].proven.is_none() {
            self.left -= 1;
            let leaf = self.descend(game);
            if self.tree.nodes[leaf as usize].proven.is_none() {
                self.pending = leaf;
                let state = &self.tree.nodes[leaf as usize].state;
                game.legal(state, &mut self.legal);
                return Some((state, &self.legal));
            }
            backup::backup(&mut self.tree, &self.path, leaf, Estimate::default());
        }
        None
    }

    /// Takes the evaluator's answer for the position that [`Mcts::gather`] returned: priors of its legal actions and
    /// what it is worth.
    pub fn apply(&mut self, priors: &[f32], estimate: Estimate) {
        let leaf = std::mem::replace(&mut self.pending, NO_NODE);
        assert_ne!(leaf, NO_NODE, "no position is waiting for an answer");
        self.tree.expand(leaf, &self.legal, priors);
        backup::backup(&mut self.tree, &self.path, leaf, estimate);
        if leaf == 0 {
            self.add_noise();
        }
    }

    /// Runs the simulations to their end with one evaluator, one position at a time.
    pub fn run<E: Evaluator<G> + ?Sized>(&mut self, game: &G, evaluator: &mut E) {
        let mut batch = Batch::default();
        while let Some((state, legal)) = self.gather(game) {
            batch.clear();
            batch.push(*state, legal);
            evaluator.evaluate(game, &mut batch);
            let (priors, estimate) = batch.answer(0);
            self.apply(priors, estimate);
        }
    }

    /// Moves the root along an action and keeps what was searched below it.
    pub fn advance(&mut self, game: &G, action: Action) {
        let child = self.tree.edges_of(0).iter().find(|edge| edge.action == action).map_or(NO_NODE, |edge| edge.child);
        if child == NO_NODE {
            let mut state = self.tree.nodes[0].state;
            game.play(&mut state, action);
            self.reset(game, state);
        } else {
            self.tree.copy_subtree(child, &mut self.spare);
            std::mem::swap(&mut self.tree, &mut self.spare);
            self.left = 0;
        }
    }

    /// The position at the root.
    pub fn state(&self) -> &G::State {
        &self.tree.nodes[0].state
    }

    /// The exact value of the root for the first side, if it is proven.
    pub fn proven(&self) -> Option<i8> {
        self.tree.nodes[0].proven
    }

    /// What the root is worth: exact if proven, else the mean over the simulations.
    pub fn estimate(&self) -> Estimate {
        let root = &self.tree.nodes[0];
        let visits = root.visits.max(1) as f32;
        let mean = Estimate { value: root.value_sum / visits, draw: root.draw_sum / visits };
        root.proven.map_or(mean, Estimate::exact)
    }

    /// What the search found for each legal action of the root, in increasing order. Empty before the first
    /// simulation and in a finished game.
    pub fn actions(&self) -> impl Iterator<Item = RootAction> + '_ {
        self.tree.edges_of(0).iter().map(|edge| {
            let proven = self.tree.proven_child(edge);
            let mean = edge.value_sum / edge.visits.max(1) as f32;
            RootAction {
                action: edge.action,
                prior: edge.prior,
                visits: edge.visits,
                value: proven.map_or(mean, f32::from),
                proven,
            }
        })
    }

    /// Writes the improved policy over the root's legal actions, of sum 1: shares of visits, among the winning actions
    /// alone if some are proven won for the mover, and with nothing on actions proven worse than the best proven one.
    pub fn policy(&self, out: &mut Vec<f32>) {
        out.clear();
        let mover = self.tree.nodes[0].mover;
        let edges = self.tree.edges_of(0);
        // What the mover is sure to get: weaker proven actions are out.
        let sure = edges.iter().filter_map(|edge| self.proven_for(edge, mover)).max().unwrap_or(-1);
        let all_proven = edges.iter().all(|edge| self.proven_for(edge, mover).is_some());
        out.extend(edges.iter().map(|edge| match self.proven_for(edge, mover) {
            Some(value) if value < sure || (value == -1 && !all_proven) => 0.0,
            // An unvisited edge cannot be proven, so a proven one weighs at least its one visit.
            Some(_) => edge.visits as f32,
            None if sure == 1 => 0.0,
            None => edge.visits as f32,
        }));
        let sum: f32 = out.iter().sum();
        if sum > 0.0 {
            out.iter_mut().for_each(|p| *p /= sum);
        } else {
            // Fewer simulations than it takes to visit an action that is not lost: the priors decide.
            out.clear();
            out.extend(edges.iter().map(|edge| match self.proven_for(edge, mover) {
                Some(-1) => 0.0,
                _ => edge.prior.max(f32::MIN_POSITIVE),
            }));
            let sum: f32 = out.iter().sum();
            out.iter_mut().for_each(|p| *p /= sum);
        }
    }

    /// An action drawn from the improved policy sharpened by a temperature: 0 takes the greatest (the first among
    /// equals), 1 draws from the policy as it is.
    ///
    /// # Panics
    /// If no simulation has been run or the game is over.
    pub fn choose(&self, temperature: f32, rng: &mut impl Rng) -> Action {
        let mut weights = Vec::new();
        self.policy(&mut weights);
        let edges = self.tree.edges_of(0);
        assert!(!edges.is_empty(), "a running position has to be searched before an action is chosen");
        let greatest = weights.iter().copied().fold(0.0, f32::max);
        if temperature <= 0.0 {
            let best = weights.iter().position(|&w| w == greatest).expect("the greatest is one of them");
            return edges[best].action;
        }
        weights.iter_mut().for_each(|w| *w = (*w / greatest).powf(1.0 / temperature));
        let mut point = rng.random::<f32>() * weights.iter().sum::<f32>();
        for (edge, weight) in edges.iter().zip(&weights) {
            if point < *weight {
                return edge.action;
            }
            point -= weight;
        }
        // Rounding can leave a rest: the last action with any weight takes it.
        let last = weights.iter().rposition(|&w| w > 0.0).expect("the greatest weight is 1");
        edges[last].action
    }

    /// The expected line: from the root the most visited actions, proven results first.
    pub fn principal_variation(&self) -> Vec<Action> {
        let mut line = Vec::new();
        let mut node = 0;
        loop {
            let mover = self.tree.nodes[node as usize].mover;
            let rank = |edge: &Edge| (self.proven_for(edge, mover).filter(|&v| v != 0).unwrap_or(0), edge.visits);
            let edges = self.tree.edges_of(node);
            let Some(best) = edges.iter().rev().filter(|edge| edge.visits > 0).max_by_key(|edge| rank(edge)) else {
                return line;
            };
            line.push(best.action);
            node = best.child;
        }
    }

    fn proven_for(&self, edge: &Edge, mover: Side) -> Option<i8> {
        self.tree.proven_child(edge).map(|value| match mover {
            Side::First => value,
            Side::Second => -value,
        })
    }

    /// Follows the selection from the root to a node without edges, which is added if need be, and records the path.
    fn descend(&mut self, game: &G) -> NodeId {
        self.path.clear();
        let mut node: NodeId = 0;
        while self.tree.nodes[node as usize].expanded && (node == 0 || self.tree.nodes[node as usize].proven.is_none())
        {
            let id = puct::select(&self.tree, node, &self.config);
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

    fn add_noise(&mut self) {
        use rand::SeedableRng;
        if let (Some(noise), Some(seed)) = (self.config.noise, self.noise_seed.take()) {
            let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
            puct::add_noise(self.tree.edges_of_mut(0), noise, &mut rng);
        }
    }
}

//! One thread's way through a tree: a simulation from the root to a leaf, and the leaf's evaluation back up.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use turnstone_env::{Action, ActionList, Rules};

use super::atomics::{Access, MultiThread, count};
use super::edge_stats::EdgeStats;
use super::method::{Method, SearchOptions};
use super::proof::Prover;
use super::tree::{Edge, EdgeId, NO_NODE, Node, NodeId, Tree};
use super::{backup, gumbel, puct};
use crate::backend::Evaluation;

/// State of a simulation after [`Mcts::step`](super::Mcts::step).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchStep {
    /// Its last position is to be evaluated.
    Leaf,
    /// It ended in a proven position.
    Finished,
    /// No simulation was begun: all are done, or the root is proven.
    Done,
}

/// Shared by all simulations of a search, apart from the tree.
#[derive(Default, Debug)]
pub(super) struct SearchState {
    pub(super) options: SearchOptions,
    /// Simulations still to be begun. One that is taken back is given back.
    left: AtomicU32,
    /// Visits of the root before the first simulation.
    visits_before: u32,
    /// State of the sequential halving.
    pub(super) gumbel: gumbel::Root,
    /// Held by the thread that selects at the root of a Gumbel search, or takes a selection back: sequential halving is a
    /// sequence. The places in it that were taken back, each as the number of selections that its action has had before.
    turn: Mutex<Vec<u32>>,
    /// Whether the threads of a shared search are to end.
    pub(super) is_ended: AtomicBool,
    /// Most actions of a position that there was no room for the edges of.
    pub(super) too_many: AtomicU32,
    /// Number of waits for another thread's evaluation.
    pub(super) waits: AtomicU64,
}

impl Clone for SearchState {
    fn clone(&self) -> Self {
        Self {
            options: self.options,
            left: self.left().into(),
            visits_before: self.visits_before,
            gumbel: self.gumbel.clone(),
            ..Self::default()
        }
    }
}

impl SearchState {
    pub(super) fn begin<S>(&mut self, simulations: u32, root: &Node<S>) {
        *self.left.get_mut() = simulations;
        self.turn().clear();
        // The evaluation of a new root is a visit, but no simulation.
        self.visits_before = root.visits() + u32::from(!root.is_expanded());
    }

    /// Leaves nothing to do at this root.
    pub(super) fn end<S>(&mut self, root: &Node<S>) {
        self.begin(0, root);
    }

    /// Simulations that have been backed up to the root.
    pub(super) fn done<S>(&self, root: &Node<S>) -> u32 {
        root.visits().saturating_sub(self.visits_before)
    }

    pub(super) fn left(&self) -> u32 {
        self.left.load(Ordering::Relaxed)
    }

    fn turn(&self) -> MutexGuard<'_, Vec<u32>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one simulation and returns how many are left after it; `None` if there are none.
    fn take<A: Access>(&self) -> Option<u32> {
        if !A::SHARED {
            let left = self.left().checked_sub(1)?;
            self.left.store(left, Ordering::Relaxed);
            return Some(left);
        }
        let before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        before.ok().map(|before| before - 1)
    }
}

/// A simulation was taken back: there is no room in the tree, or the shared search is ended.
#[derive(Debug)]
pub(super) struct Interrupted;

/// A thread's own parts of the search.
#[derive(Clone, Debug)]
pub(super) struct Simulator<G: Rules> {
    /// Nodes and the edges taken from them, from the root to the pending leaf.
    path: Vec<(NodeId, EdgeId)>,
    pending: NodeId,
    legal: ActionList,
    /// Buffer of a selection.
    seen: Vec<EdgeStats>,
    prover: Prover<G>,
}

impl<G: Rules> Default for Simulator<G> {
    fn default() -> Self {
        Self {
            path: Vec::new(),
            pending: NO_NODE,
            legal: ActionList::new(),
            seen: Vec::new(),
            prover: Prover::default(),
        }
    }
}

impl<G: Rules> Simulator<G> {
    /// Forgets the pending leaf.
    pub(super) fn forget(&mut self) {
        self.pending = NO_NODE;
    }

    /// Whether a leaf waits for its evaluation.
    pub(super) fn is_pending(&self) -> bool {
        self.pending != NO_NODE
    }

    /// Begins one simulation.
    ///
    /// # Errors
    /// There is no room for another node.
    pub(super) fn step<A: Access>(
        &mut self,
        game: &G,
        tree: &Tree<G>,
        plan: &SearchState,
    ) -> Result<SearchStep, Interrupted> {
        assert!(!self.is_pending(), "the last evaluation has to be applied first");
        if plan.left() == 0 || tree.root().proven.get().is_some() {
            return Ok(SearchStep::Done);
        }
        self.path.clear();
        if tree.root().is_expanded() && !self.start::<A>(tree, plan) {
            return Ok(SearchStep::Done);
        }
        let Some(leaf) = self.descend::<A>(game, tree, plan) else {
            self.take_back(tree, plan);
            return Err(Interrupted);
        };
        let node = tree.node(leaf);
        if node.proven.get().is_some() {
            self.back_up::<A>(tree, leaf, Evaluation::default());
            return Ok(SearchStep::Finished);
        }
        self.pending = leaf;
        let SearchOptions { proof_nodes, .. } = plan.options;
        if leaf != 0
            && proof_nodes > 0
            && let Some(value) = self.prover.value(game, &node.state, proof_nodes)
        {
            self.set_proven::<A>(tree, value);
            return Ok(SearchStep::Finished);
        }
        game.legal(&node.state, &mut self.legal);
        Ok(SearchStep::Leaf)
    }

    /// The position to be evaluated, with its legal actions.
    pub(super) fn leaf<'a>(&'a self, tree: &'a Tree<G>) -> (&'a G::State, &'a [Action]) {
        assert!(self.is_pending(), "no position is to be evaluated");
        (&tree.node(self.pending).state, &self.legal)
    }

    /// Takes the evaluation of the pending leaf, which it returns.
    ///
    /// # Errors
    /// There is no room for the edges of the leaf.
    pub(super) fn apply<A: Access>(
        &mut self,
        tree: &Tree<G>,
        priors: &[f32],
        estimate: Evaluation,
    ) -> Result<NodeId, Interrupted> {
        assert!(self.is_pending(), "no position is to be evaluated");
        if !tree.expand(self.pending, &self.legal, priors, estimate) {
            return Err(Interrupted);
        }
        let leaf = std::mem::replace(&mut self.pending, NO_NODE);
        self.back_up::<A>(tree, leaf, estimate);
        Ok(leaf)
    }

    /// Takes the exact value of the pending leaf for the first side.
    pub(super) fn set_proven<A: Access>(&mut self, tree: &Tree<G>, value: i8) {
        let leaf = std::mem::replace(&mut self.pending, NO_NODE);
        assert!(leaf != NO_NODE && leaf != 0, "a position below the root is to be evaluated");
        tree.node(leaf).proven.set(value);
        self.back_up::<A>(tree, leaf, Evaluation::exact(value));
    }

    /// Takes back a simulation of a shared tree that cannot be completed, so that it is left to be run.
    pub(super) fn take_back(&mut self, tree: &Tree<G>, plan: &SearchState) {
        if self.is_pending() {
            let leaf = tree.node(std::mem::replace(&mut self.pending, NO_NODE));
            leaf.leave();
            leaf.release();
        }
        let mut free = plan.turn();
        if let Some(&(_, edge)) = self.path.first() {
            free.extend(plan.gumbel.take_back(tree, edge));
        }
        count::<MultiThread>(&plan.left, 1);
        drop(free);
        self.path.drain(..).for_each(|(node, _)| tree.node(node).leave());
    }

    /// Takes a simulation and selects an edge of the root. Returns false if no simulation is left.
    fn start<A: Access>(&mut self, tree: &Tree<G>, plan: &SearchState) -> bool {
        if A::SHARED {
            tree.root().enter();
        }
        let edge = match &plan.options.method {
            Method::Puct(config) => plan.take::<A>().map(|_| puct::select(tree, 0, config, &mut self.seen)),
            Method::Gumbel(config) => {
                let mut free = plan.turn();
                plan.take::<A>().map(|left| plan.gumbel.select(tree, config, left, &mut free))
            }
        };
        if A::SHARED && edge.is_none() {
            tree.root().leave();
        }
        self.path.extend(edge.map(|edge| (0, edge)));
        edge.is_some()
    }

    /// Follows the selection from the root's edge to a node without edges or a proven one, adds it if it is new, and records
    /// the path. In a shared tree the node is claimed. `None` if there is no room, or the shared search is ended while another
    /// thread evaluates the node.
    fn descend<A: Access>(&mut self, game: &G, tree: &Tree<G>, plan: &SearchState) -> Option<NodeId> {
        let Some(&(_, mut edge)) = self.path.first() else { return Some(0) };
        let mut parent = tree.root();
        loop {
            let id = follow::<G, A>(game, tree, parent, tree.edge(edge))?;
            let node = tree.node(id);
            if A::SHARED {
                node.enter();
            }
            if node.proven.get().is_some() {
                return Some(id);
            }
            if !node.is_expanded() {
                if !A::SHARED || node.claim() {
                    return Some(id);
                }
                if !wait(node, plan) {
                    node.leave();
                    return None;
                }
                if !node.is_expanded() {
                    return Some(id); // it is proven
                }
            }
            edge = match &plan.options.method {
                Method::Puct(config) => puct::select(tree, id, config, &mut self.seen),
                Method::Gumbel(config) => gumbel::select(tree, id, config, &mut self.seen),
            };
            self.path.push((id, edge));
            parent = node;
        }
    }

    /// Ends a simulation.
    fn back_up<A: Access>(&self, tree: &Tree<G>, leaf: NodeId, estimate: Evaluation) {
        backup::backup::<G, A>(tree, &self.path, leaf, estimate);
        if A::SHARED {
            tree.node(leaf).leave();
            self.path.iter().for_each(|&(node, _)| tree.node(node).leave());
        }
    }
}

/// The node that an edge leads to, which is added if it is new. `None` if there is no room.
fn follow<G: Rules, A: Access>(game: &G, tree: &Tree<G>, parent: &Node<G::State>, edge: &Edge) -> Option<NodeId> {
    match edge.child() {
        NO_NODE => {
            let mut state = parent.state;
            game.play(&mut state, edge.action);
            let added = tree.add(game, state)?;
            // The edge may have outlived a child that was proven.
            if let Some(value) = edge.proven.get() {
                tree.node(added).proven.set(value);
            }
            Some(edge.adopt::<A>(added))
        }
        child => Some(child),
    }
}

/// Waits until another thread has evaluated a node. Returns false if the search was ended before.
fn wait<S>(node: &Node<S>, plan: &SearchState) -> bool {
    /// Number of reads of the node before the thread yields.
    const SPINS: u32 = 200;
    plan.waits.fetch_add(1, Ordering::Relaxed);
    let mut spins = 0;
    loop {
        if node.proven.get().is_some() {
            return true;
        }
        match node.evaluated() {
            None if plan.is_ended.load(Ordering::Relaxed) => return false,
            None => {}
            Some(evaluated) => return evaluated,
        }
        if spins < SPINS {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
        spins += 1;
    }
}

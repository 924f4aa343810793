//! The tree of a search in two flat arenas, nodes and edges, reused from search to search. Threads can share it: what changes
//! during a search is atomic, and what is written once is published by the atomic that leads to it.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use turnstone_env::{Action, Rules, Side, Spec};

use crate::backend::Evaluation;

use super::arena::Arena;
use super::atomics::{Access, Proven, Sum, count};

/// Index of a node in its tree.
pub(super) type NodeId = u32;
/// Index of an edge in its tree.
pub(super) type EdgeId = u32;

/// No node: the edge has not been followed yet.
pub(super) const NO_NODE: NodeId = NodeId::MAX;

/// In place of the last edge: there are no edges yet.
const NOT_EXPANDED: u16 = u16::MAX;
/// In place of the last edge: a thread is about to add the edges.
const CLAIMED: u16 = u16::MAX - 1;

const _: () = assert!(Spec::MAX_ACTIONS <= CLAIMED as usize, "the last edge of a node with all actions has an index");

/// A position in the tree.
#[derive(Debug)]
pub(super) struct Node<S> {
    pub(super) state: S,
    pub(super) first_edge: AtomicU32,
    /// Index of the last one among them, or [`NOT_EXPANDED`] or [`CLAIMED`]; written last.
    last_edge: AtomicU16,
    pub(super) mover: Side,
    /// The exact value for the first side.
    pub(super) proven: Proven,
    /// Simulations of other threads that are on their way through this node.
    in_flight: AtomicU16,
    /// The evaluator's value for the first side, draws valued by `draw_value`.
    pub(super) value: Sum,
    /// Simulations that reached this node, the one that expanded it included.
    visits: AtomicU32,
    /// Sum of the values of those simulations for the first side.
    value_sum: Sum,
    /// Sum of the probabilities of a draw of those simulations.
    draw_sum: Sum,
}

impl<S: Copy> Clone for Node<S> {
    fn clone(&self) -> Self {
        Self {
            state: self.state,
            first_edge: AtomicU32::new(self.first_edge()),
            last_edge: AtomicU16::new(self.last_edge.load(Ordering::Acquire)),
            mover: self.mover,
            proven: Proven::new(self.proven.get()),
            in_flight: AtomicU16::new(0),
            value: Sum::new(self.value.get()),
            visits: AtomicU32::new(self.visits()),
            value_sum: Sum::new(self.value_sum.get()),
            draw_sum: Sum::new(self.draw_sum.get()),
        }
    }
}

impl<S> Node<S> {
    /// Whether the edges are there.
    #[inline]
    pub(super) fn is_expanded(&self) -> bool {
        self.last_edge.load(Ordering::Acquire) < CLAIMED
    }

    /// Claims a node without edges for the calling thread, which then evaluates it. Returns false if it was too late.
    pub(super) fn claim(&self) -> bool {
        self.last_edge.compare_exchange(NOT_EXPANDED, CLAIMED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Gives up a claim.
    pub(super) fn release(&self) {
        self.last_edge.store(NOT_EXPANDED, Ordering::Relaxed);
    }

    /// Whether the edges are there; `None` while a thread is about to add them.
    pub(super) fn evaluated(&self) -> Option<bool> {
        match self.last_edge.load(Ordering::Acquire) {
            CLAIMED => None,
            last => Some(last != NOT_EXPANDED),
        }
    }

    /// The first of its edges, if it is expanded.
    #[inline]
    pub(super) fn first_edge(&self) -> EdgeId {
        self.first_edge.load(Ordering::Relaxed)
    }

    /// Number of its edges.
    #[inline]
    pub(super) fn edges(&self) -> usize {
        let last = self.last_edge.load(Ordering::Acquire);
        if last < CLAIMED { usize::from(last) + 1 } else { 0 }
    }

    /// Simulations that have ended and been counted.
    #[inline]
    pub(super) fn visits(&self) -> u32 {
        self.visits.load(Ordering::Relaxed)
    }

    /// Simulations counted or on their way, but for one that is just selecting here.
    #[inline]
    pub(super) fn visits_begun(&self) -> u32 {
        self.visits() + u32::from(self.in_flight.load(Ordering::Relaxed).saturating_sub(1))
    }

    /// Exact if proven, else the mean over the simulations that reached the node.
    pub(super) fn estimate(&self) -> Evaluation {
        let visits = self.visits().max(1) as f32;
        let mean = Evaluation { value: self.value_sum.get() / visits, draw: self.draw_sum.get() / visits };
        self.proven.get().map_or(mean, Evaluation::exact)
    }

    /// Announces a simulation on its way through this node.
    pub(super) fn enter(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes back an announced simulation.
    pub(super) fn leave(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts simulations of the same value.
    #[cfg(test)]
    pub(super) fn count(&self, visits: u32, mean: f32) {
        count::<super::atomics::SingleThread>(&self.visits, visits);
        self.value_sum.set(self.value_sum.get() + mean * visits as f32);
    }

    /// Whether no simulation is under way below it.
    #[cfg(test)]
    pub(super) fn is_quiet(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) == 0
    }

    /// Counts a simulation and returns the value to back up further: the exact one if the node is proven.
    pub(super) fn arrive<A: Access>(&self, estimate: Evaluation) -> Evaluation {
        let estimate = self.proven.get().map_or(estimate, Evaluation::exact);
        count::<A>(&self.visits, 1);
        self.value_sum.add::<A>(estimate.value);
        self.draw_sum.add::<A>(estimate.draw);
        estimate
    }
}

/// A legal action of a node. Most edges are never followed, so visits and values are kept in the child.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) action: Action,
    /// The child's proven value.
    pub(super) proven: Proven,
    child: AtomicU32,
    pub(super) prior: f32,
}

impl Clone for Edge {
    fn clone(&self) -> Self {
        self.leading_to(self.child())
    }
}

impl Edge {
    pub(super) fn new(action: Action, prior: f32) -> Self {
        Self { action, proven: Proven::new(None), child: AtomicU32::new(NO_NODE), prior }
    }

    /// The same edge with another child.
    pub(super) fn leading_to(&self, child: NodeId) -> Self {
        let proven = Proven::new(self.proven.get());
        Self { action: self.action, proven, child: AtomicU32::new(child), prior: self.prior }
    }

    /// Its child, or [`NO_NODE`].
    #[inline]
    pub(super) fn child(&self) -> NodeId {
        self.child.load(Ordering::Acquire)
    }

    /// Gives it a child, unless another thread was faster. Returns its child.
    #[inline]
    pub(super) fn adopt<A: Access>(&self, child: NodeId) -> NodeId {
        if !A::SHARED {
            self.child.store(child, Ordering::Relaxed);
            return child;
        }
        let adopted = self.child.compare_exchange(NO_NODE, child, Ordering::AcqRel, Ordering::Acquire);
        adopted.map_or_else(|faster| faster, |_| child)
    }

    /// Whether it has been followed, so that its child is in the tree.
    #[inline]
    pub(super) fn is_followed(&self) -> bool {
        self.child() != NO_NODE
    }
}

/// The simulations that went through an edge.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Visits {
    /// Finished visits.
    pub(super) count: u32,
    /// `count` and the visits still in flight in other threads.
    pub(super) started: u32,
    /// Sum of the values of those counted for the first side, draws valued by `draw_value`.
    pub(super) value_sum: f32,
}

/// Nodes and edges; node 0 is the root. Nodes sum expected results, from which an action's value follows with draws
/// counted as `draw_value`.
#[derive(Clone, Debug)]
pub(super) struct Tree<G: Rules> {
    pub(super) nodes: Arena<Node<G::State>>,
    pub(super) edges: Arena<Edge>,
    /// Value of a draw for the first side.
    pub(super) draw_value: f32,
}

impl<G: Rules> Default for Tree<G> {
    fn default() -> Self {
        Self { nodes: Arena::default(), edges: Arena::default(), draw_value: 0.0 }
    }
}

impl<G: Rules> Tree<G> {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
    }

    /// Reserves `bytes` bytes for nodes and as many for edges, since their ratio is not known in advance. Without enough
    /// memory the tree grows on demand.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.nodes.reserve(bytes / size_of::<Node<G::State>>());
        self.edges.reserve(bytes / size_of::<Edge>());
    }

    /// Makes room for this many more nodes and edges.
    pub(super) fn make_room(&mut self, nodes: usize, edges: usize) {
        self.nodes.make_room(nodes);
        self.edges.make_room(edges);
    }

    /// Numbers of nodes and edges.
    pub(super) fn size(&self) -> [usize; 2] {
        [self.nodes.len(), self.edges.len()]
    }

    /// Bytes of its nodes and edges.
    pub(super) fn bytes(&self) -> u64 {
        Self::bytes_of(self.size())
    }

    /// Bytes of this many nodes and edges.
    pub(super) fn bytes_of([nodes, edges]: [usize; 2]) -> u64 {
        (nodes * size_of::<Node<G::State>>() + edges * size_of::<Edge>()) as u64
    }

    /// Numbers of nodes and edges that there is room for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> [usize; 2] {
        [self.nodes.capacity(), self.edges.capacity()]
    }

    #[inline]
    pub(super) fn node(&self, id: NodeId) -> &Node<G::State> {
        self.nodes.get(id)
    }

    pub(super) fn root(&self) -> &Node<G::State> {
        self.nodes.get(0)
    }

    #[inline]
    pub(super) fn edge(&self, id: EdgeId) -> &Edge {
        self.edges.get(id)
    }

    /// Adds a node without edges; a finished game is proven at once. `None` if there is no room.
    pub(super) fn add(&self, game: &G, state: G::State) -> Option<NodeId> {
        let proven = game.outcome(&state).map(|outcome| outcome.value());
        let mover = game.mover(&state);
        self.nodes.push(Node {
            state,
            mover,
            first_edge: AtomicU32::new(0),
            last_edge: AtomicU16::new(NOT_EXPANDED),
            proven: Proven::new(proven),
            in_flight: AtomicU16::new(0),
            value: Sum::default(),
            visits: AtomicU32::new(0),
            value_sum: Sum::default(),
            draw_sum: Sum::default(),
        })
    }

    /// Makes a state the root of an empty tree.
    pub(super) fn set_root(&mut self, game: &G, state: G::State) {
        self.clear();
        self.make_room(1, 0);
        self.add(game, state).expect("there is room");
    }

    /// Forgets the value of a running root that was proven without a search of its actions, so that one can be chosen.
    pub(super) fn open_root(&mut self, game: &G) {
        let root = &mut self.nodes.slice_mut(0, 1)[0];
        if !root.is_expanded() && game.outcome(&root.state).is_none() {
            root.proven = Proven::new(None);
        }
    }

    /// The value of an estimate for the first side, with draws valued by `draw_value`.
    #[inline]
    pub(super) fn utility(&self, estimate: Evaluation) -> f32 {
        estimate.value + self.draw_value * estimate.draw
    }

    /// Adds the edges of a node, with its evaluation. Returns false if there is no room.
    pub(super) fn expand(&self, node: NodeId, legal: &[Action], priors: &[f32], estimate: Evaluation) -> bool {
        assert!(legal.len() <= priors.len(), "a prior per action");
        assert!((1..=Spec::MAX_ACTIONS).contains(&legal.len()), "a running game has actions, and each has an index");
        let edges = legal.iter().zip(priors).map(|(&action, &prior)| Edge::new(action, prior));
        let Some(first_edge) = self.edges.extend(legal.len(), edges) else { return false };
        let node = self.node(node);
        node.value.set(self.utility(estimate));
        node.first_edge.store(first_edge, Ordering::Relaxed);
        node.last_edge.store((legal.len() - 1) as u16, Ordering::Release);
        true
    }

    /// The simulations that went through an edge; none if it has no child. Without a branch, which could not be predicted.
    #[inline]
    pub(super) fn visits(&self, edge: &Edge) -> Visits {
        let followed = edge.is_followed();
        let child = self.node(if followed { edge.child() } else { 0 });
        let count = child.visits();
        let value_sum = child.value_sum.get() + self.draw_value * child.draw_sum.get();
        Visits {
            count: if followed { count } else { 0 },
            started: if followed { count + u32::from(child.in_flight.load(Ordering::Relaxed)) } else { 0 },
            value_sum: if followed { value_sum } else { 0.0 },
        }
    }

    /// The value of a node from the simulations that reached it, for its mover, draws valued by `draw_value`.
    pub(super) fn mean(&self, node: &Node<G::State>) -> f32 {
        let sum = node.value_sum.get() + self.draw_value * node.draw_sum.get();
        node.mover.sign() * sum / node.visits().max(1) as f32
    }

    #[inline]
    pub(super) fn edges_of(&self, node: NodeId) -> &[Edge] {
        let node = self.node(node);
        self.edges.slice(node.first_edge(), node.edges())
    }

    pub(super) fn edges_of_mut(&mut self, node: NodeId) -> &mut [Edge] {
        let node = self.node(node);
        let (first, edges) = (node.first_edge(), node.edges());
        self.edges.slice_mut(first, edges)
    }
}

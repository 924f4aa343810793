//! The tree of a search in two flat arenas, nodes and edges, reused from search to search.

use std::ops::Range;

use turnstone_env::{Action, Game, Side};

use crate::evaluator::Evaluation;

/// Index of a node in its tree.
pub(super) type NodeId = u32;
/// Index of an edge in its tree.
pub(super) type EdgeId = u32;

/// No node: the edge has not been followed yet.
pub(super) const NO_NODE: NodeId = NodeId::MAX;

/// A position in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<S> {
    pub(super) state: S,
    pub(super) first_edge: EdgeId,
    pub(super) edges: u16,
    pub(super) mover: Side,
    /// The exact value for the first side, once it is proven: -1, 0 or 1.
    pub(super) proven: Option<i8>,
    /// Whether the edges are there.
    pub(super) expanded: bool,
    /// The evaluator's value for the first side, draws valued by `draw_value`.
    pub(super) value: f32,
    /// Simulations that reached this node, the one that expanded it included.
    pub(super) visits: u32,
    /// Sum of the values of those simulations for the first side.
    pub(super) value_sum: f32,
    /// Sum of the probabilities of a draw of those simulations.
    pub(super) draw_sum: f32,
}

impl<S> Node<S> {
    /// Where its edges are.
    fn edge_range(&self) -> Range<usize> {
        let first = self.first_edge as usize;
        first..first + usize::from(self.edges)
    }

    /// Exact if proven, else the mean over the simulations that reached the node.
    pub(super) fn estimate(&self) -> Evaluation {
        let visits = self.visits.max(1) as f32;
        let mean = Evaluation { value: self.value_sum / visits, draw: self.draw_sum / visits };
        self.proven.map_or(mean, Evaluation::exact)
    }
}

/// A legal action of a node. Most edges are never followed, so visits and values are kept in the child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) action: Action,
    /// The child's proven value.
    pub(super) proven: Option<i8>,
    pub(super) child: NodeId,
    pub(super) prior: f32,
}

impl Edge {
    /// Whether it has been followed, so that its child is in the tree.
    #[inline]
    pub(super) fn is_followed(&self) -> bool {
        self.child != NO_NODE
    }
}

/// The simulations that went through an edge.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Visits {
    pub(super) count: u32,
    /// Sum of their values for the first side, draws valued by `draw_value`.
    pub(super) value_sum: f32,
}

impl Visits {
    /// The mean value for the first side; there must be a visit.
    #[inline]
    pub(super) fn mean(self) -> f32 {
        self.value_sum / self.count as f32
    }
}

/// Nodes and edges; node 0 is the root. Nodes sum expected results, from which an action's value follows with draws
/// counted as `draw_value`.
#[derive(Clone, Debug)]
pub(super) struct Tree<G: Game> {
    pub(super) nodes: Vec<Node<G::State>>,
    pub(super) edges: Vec<Edge>,
    /// Value of a draw for the first side.
    pub(super) draw_value: f32,
}

impl<G: Game> Default for Tree<G> {
    fn default() -> Self {
        Self { nodes: Vec::new(), edges: Vec::new(), draw_value: 0.0 }
    }
}

impl<G: Game> Tree<G> {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
    }

    /// Reserves `bytes` bytes for nodes and as many for edges, since their ratio is not known in advance. Without enough
    /// memory the tree grows on demand.
    pub(super) fn reserve(&mut self, bytes: usize) {
        let nodes = (bytes / size_of::<Node<G::State>>()).saturating_sub(self.nodes.len());
        let edges = (bytes / size_of::<Edge>()).saturating_sub(self.edges.len());
        _ = self.nodes.try_reserve_exact(nodes);
        _ = self.edges.try_reserve_exact(edges);
    }

    /// Adds a node without edges; a finished game is proven at once.
    pub(super) fn add(&mut self, game: &G, state: G::State) -> NodeId {
        let proven = game.outcome(&state).map(|outcome| outcome.value());
        let mover = game.mover(&state);
        self.nodes.push(Node {
            state,
            mover,
            first_edge: 0,
            edges: 0,
            proven,
            expanded: false,
            value: 0.0,
            visits: 0,
            value_sum: 0.0,
            draw_sum: 0.0,
        });
        (self.nodes.len() - 1) as NodeId
    }

    /// Forgets the value of a running root that was proven without a search of its actions, so that one can be chosen.
    pub(super) fn open_root(&mut self, game: &G) {
        let root = &mut self.nodes[0];
        if !root.expanded && game.outcome(&root.state).is_none() {
            root.proven = None;
        }
    }

    /// The value of an estimate for the first side, with draws valued by `draw_value`.
    #[inline]
    pub(super) fn utility(&self, estimate: Evaluation) -> f32 {
        estimate.value + self.draw_value * estimate.draw
    }

    /// Adds the edges of a node, with its evaluation.
    pub(super) fn expand(&mut self, node: NodeId, legal: &[Action], priors: &[f32], estimate: Evaluation) {
        let value = self.utility(estimate);
        let first_edge = self.edges.len() as EdgeId;
        self.edges.extend(legal.iter().zip(priors).map(|(&action, &prior)| Edge {
            action,
            proven: None,
            child: NO_NODE,
            prior,
        }));
        let node = &mut self.nodes[node as usize];
        node.expanded = true;
        node.first_edge = first_edge;
        node.edges = legal.len() as u16; // indices of actions have 16 bits
        node.value = value;
    }

    /// The simulations that went through an edge; none if it has no child.
    #[inline]
    pub(super) fn visits(&self, edge: &Edge) -> Visits {
        let of_child = |child: &Node<G::State>| Visits {
            count: child.visits,
            value_sum: child.value_sum + self.draw_value * child.draw_sum,
        };
        self.nodes.get(edge.child as usize).map_or(Visits::default(), of_child)
    }

    pub(super) fn edges_of(&self, node: NodeId) -> &[Edge] {
        &self.edges[self.nodes[node as usize].edge_range()]
    }

    pub(super) fn edges_of_mut(&mut self, node: NodeId) -> &mut [Edge] {
        &mut self.edges[self.nodes[node as usize].edge_range()]
    }

    /// Copies the subtree of `root` into `target`, breadth first, with `root` as its node 0. Returns false if `go_on`, which
    /// is called every 1024 nodes, ended it.
    pub(super) fn copy_subtree(&self, root: NodeId, target: &mut Self, go_on: &mut dyn FnMut() -> bool) -> bool {
        const NODES_PER_CHECK: usize = 1024;
        target.clear();
        target.nodes.push(self.nodes[root as usize]);
        let mut next = 0;
        while next < target.nodes.len() {
            if next.is_multiple_of(NODES_PER_CHECK) && !go_on() {
                return false;
            }
            let node = target.nodes[next];
            if node.expanded {
                let first_edge = target.edges.len() as EdgeId;
                target.nodes[next].first_edge = first_edge;
                for &edge in &self.edges[node.edge_range()] {
                    let mut copy = edge;
                    if edge.child != NO_NODE {
                        copy.child = target.nodes.len() as NodeId;
                        target.nodes.push(self.nodes[edge.child as usize]);
                    }
                    target.edges.push(copy);
                }
            }
            next += 1;
        }
        true
    }
}

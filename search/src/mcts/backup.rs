//! Backup of a simulation's value and of proofs along its path.

use turnstone_env::Game;

use crate::evaluator::Evaluation;

use super::tree::{EdgeId, NodeId, Tree};

/// Adds the value of the leaf at the end of `path` to every node above it, and what it proves to their edges. From a proven
/// node on, its exact value is backed up instead.
pub(super) fn backup<G: Game>(tree: &mut Tree<G>, path: &[(NodeId, EdgeId)], leaf: NodeId, estimate: Evaluation) {
    let mut estimate = arrive(tree, leaf, estimate);
    let mut proven = tree.nodes[leaf as usize].proven;
    for &(node, edge) in path.iter().rev() {
        tree.edges[edge as usize].proven = proven;
        if proven.is_some() && tree.nodes[node as usize].proven.is_none() {
            tree.nodes[node as usize].proven = prove(tree, node);
        }
        proven = tree.nodes[node as usize].proven;
        estimate = arrive(tree, node, estimate);
    }
}

/// Counts a visit of a node and returns the value to back up further: the exact one if the node is proven.
fn arrive<G: Game>(tree: &mut Tree<G>, node: NodeId, estimate: Evaluation) -> Evaluation {
    let node = &mut tree.nodes[node as usize];
    let estimate = node.proven.map_or(estimate, Evaluation::exact);
    node.visits += 1;
    node.value_sum += estimate.value;
    node.draw_sum += estimate.draw;
    estimate
}

/// The exact value for the first side that follows from the children: a proven win for the mover, or the best of the
/// children when all of them are proven.
fn prove<G: Game>(tree: &Tree<G>, node: NodeId) -> Option<i8> {
    let sign = match tree.nodes[node as usize].mover {
        turnstone_env::Side::First => 1,
        turnstone_env::Side::Second => -1,
    };
    let mut best = Some(-1);
    for edge in tree.edges_of(node) {
        match edge.proven.map(|value| sign * value) {
            Some(1) => return Some(sign),
            Some(value) => best = best.map(|b| b.max(value)),
            None => best = None,
        }
    }
    best.map(|value| sign * value)
}

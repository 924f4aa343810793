//! Backup of a simulation's value and of proofs along its path.

use turnstone_env::Rules;

use crate::backend::Evaluation;

use super::atomics::Access;
use super::tree::{EdgeId, NodeId, Tree};

/// Adds the value of the leaf at the end of `path` to every node above it, and what it proves to their edges. From a proven
/// node on, its exact value is backed up instead.
///
/// Threads that prove two children of a node at the same time may both miss that the node is proven too; the next simulation
/// through it finds out.
pub(super) fn backup<G: Rules, A: Access>(
    tree: &Tree<G>,
    path: &[(NodeId, EdgeId)],
    leaf: NodeId,
    estimate: Evaluation,
) {
    let mut estimate = tree.node(leaf).arrive::<A>(estimate);
    let mut proven = tree.node(leaf).proven.get();
    for &(id, edge) in path.iter().rev() {
        let node = tree.node(id);
        if let Some(value) = proven {
            tree.edge(edge).proven.set(value);
            if node.proven.get().is_none()
                && let Some(value) = prove(tree, id)
            {
                node.proven.set(value);
            }
        }
        proven = node.proven.get();
        estimate = node.arrive::<A>(estimate);
    }
}

/// The exact value for the first side that follows from the children: a proven win for the mover, or the best of the
/// children when all of them are proven.
fn prove<G: Rules>(tree: &Tree<G>, node: NodeId) -> Option<i8> {
    let sign = match tree.node(node).mover {
        turnstone_env::Side::First => 1,
        turnstone_env::Side::Second => -1,
    };
    let mut best = Some(-1);
    for edge in tree.edges_of(node) {
        match edge.proven.get().map(|value| sign * value) {
            Some(1) => return Some(sign),
            Some(value) => best = best.map(|b| b.max(value)),
            None => best = None,
        }
    }
    best.map(|value| sign * value)
}

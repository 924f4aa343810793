//! Choosing an edge inside the tree: PUCT with first-play urgency, and noise at the root.
//!
//! PUCT: Silver et al., "Mastering the game of Go without human knowledge" (2017). First-play-urgency reduction and the
//! scaling of the noise to the number of legal actions: Wu, "Accelerating self-play learning in Go" (KataGo, 2019).

use rand::Rng;
use rand_distr::{Distribution, Gamma};
use turnstone_env::Game;

use super::tree::{Edge, EdgeId, NodeId, Tree};
use super::{Puct, RootNoise};

/// The edge with the greatest `Q + c P sqrt(N) / (1 + n)` for the node's mover; among equals the first. Edges proven
/// lost for the mover are passed over (the node itself would be proven if all were).
pub(super) fn select<G: Game>(tree: &Tree<G>, node: NodeId, config: &Puct) -> EdgeId {
    let parent = &tree.nodes[node as usize];
    let edges = tree.edges_of(node);
    let sign = parent.mover.sign();
    let visited_prior: f32 = edges.iter().filter(|edge| edge.visits > 0).map(|edge| edge.prior).sum();
    let parent_value = sign * parent.value_sum / parent.visits.max(1) as f32;
    let unvisited = (parent_value - config.fpu_reduction * visited_prior.sqrt()).max(-1.0);
    let exploration = config.c_puct * (parent.visits.max(1) as f32).sqrt();

    let mut best = (f32::NEG_INFINITY, parent.first_edge);
    for (edge, id) in edges.iter().zip(parent.first_edge..) {
        let q = match edge.proven.map(|value| sign * f32::from(value)) {
            Some(-1.0) => continue,
            Some(exact) => exact,
            None if edge.visits == 0 => unvisited,
            None => sign * edge.value_sum / edge.visits as f32,
        };
        let score = q + exploration * edge.prior / (1 + edge.visits) as f32;
        if score > best.0 {
            best = (score, id);
        }
    }
    best.1
}

/// Mixes Dirichlet noise into the priors of the root's edges. Its concentration per action is the total concentration
/// divided by the number of legal actions.
pub(super) fn add_noise(edges: &mut [Edge], noise: RootNoise, rng: &mut impl Rng) {
    if edges.len() < 2 || noise.fraction == 0.0 {
        return;
    }
    let alpha = noise.concentration / edges.len() as f32;
    let Ok(gamma) = Gamma::new(alpha, 1.0f32) else { return };
    // A Dirichlet sample is a normalised vector of gamma samples; tiny ones may all round to zero.
    let samples: Vec<f32> = edges.iter().map(|_| gamma.sample(rng)).collect();
    let sum: f32 = samples.iter().sum();
    if sum > 0.0 {
        for (edge, sample) in edges.iter_mut().zip(samples) {
            edge.prior += noise.fraction * (sample / sum - edge.prior);
        }
    }
}

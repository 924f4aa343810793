//! Choosing an edge inside the tree: PUCT with first-play urgency; at the root noise, forced playouts and their pruning.
//!
//! PUCT: Silver et al., "Mastering the game of Go without human knowledge" (2017). First-play-urgency reduction, the
//! scaling of the noise to the number of legal actions, forced playouts and policy-target pruning: Wu, "Accelerating
//! self-play learning in Go" (KataGo, 2019).

use rand::Rng;
use rand_distr::{Distribution, Gamma};
use turnstone_env::Rules;

use super::edge_stats::{Best, EdgeStats};
use super::method::{Puct, RootNoise};
use super::tree::{Edge, EdgeId, NodeId, Tree};

/// The edge with the greatest `Q + c P sqrt(N) / (1 + n)` for the node's mover; among equals the first. Edges proven
/// lost for the mover are passed over (the node itself would be proven if all were). At the root an edge that has been
/// visited, but not yet as often as it is to be forced, comes before all others. `seen` is a buffer.
pub(super) fn select<G: Rules>(tree: &Tree<G>, node: NodeId, config: &Puct, seen: &mut Vec<EdgeStats>) -> EdgeId {
    seen.clear();
    seen.extend(EdgeStats::all(tree, node));
    let parent = tree.node(node);
    let scale = Scale::of(parent.visits_begun(), config);
    if node == 0 && config.forced_playouts > 0.0 {
        let due = |edge: &EdgeStats| edge.started > 0.0 && edge.started < scale.forced(edge, config) && !edge.is_lost();
        if let Some(edge) = seen.iter().position(due) {
            return parent.first_edge() + edge as EdgeId;
        }
    }
    // Unvisited edges have the same value, so the best of them is the one with the greatest prior. Where other threads are on
    // their way through one, its prior counts as that of an edge with as many visits.
    let (mut best, mut fresh, mut visited_prior) =
        (Best::above(f32::NEG_INFINITY), Best::above(f32::NEG_INFINITY), 0.0);
    for (edge, at) in seen.iter().zip(0..) {
        visited_prior += if edge.started > 0.0 { edge.prior } else { 0.0 };
        best.take(scale.score(edge, edge.started), at, edge.is_visited());
        fresh.take(edge.prior / (1.0 + edge.started), at, !edge.is_visited());
    }
    let first_play = (tree.mean(parent) - config.fpu_reduction * visited_prior.sqrt()).max(-1.0);
    let unvisited = first_play + scale.exploration * fresh.score;
    let is_fresh = unvisited > best.score || unvisited == best.score && fresh.at < best.at;
    parent.first_edge() + if is_fresh { fresh.at } else { best.at }
}

/// Writes the visits of the root's edges without those that were only forced (policy-target pruning): every edge but the
/// most visited loses forced visits as long as its score stays below that of the most visited, and edges that are left
/// with one visit lose it too.
pub(super) fn pruned_visits<G: Rules>(tree: &Tree<G>, config: &Puct, out: &mut Vec<f32>) {
    let scale = Scale::of(tree.root().visits_begun(), config);
    let most = EdgeStats::all(tree, 0).map(|edge| edge.count).fold(0.0, f32::max);
    let most_visited = EdgeStats::all(tree, 0).find(|edge| edge.count == most);
    let bar = most_visited.filter(|edge| !edge.is_lost()).map(|edge| scale.score(&edge, most));
    out.clear();
    out.extend(EdgeStats::all(tree, 0).map(|edge| {
        let Some(bar) = bar.filter(|_| edge.count < most) else { return edge.count };
        let least = (edge.count - scale.forced(&edge, config).ceil()).max(0.0);
        let mut kept = edge.count;
        while kept > least && scale.score(&edge, kept - 1.0) < bar {
            kept -= 1.0;
        }
        if kept > 1.0 { kept } else { 0.0 }
    }));
}

/// The common terms of the scores of a node's edges.
struct Scale {
    /// `c sqrt(N)`.
    exploration: f32,
    /// Visits of the node.
    visits: f32,
}

impl Scale {
    fn of(visits: u32, config: &Puct) -> Self {
        let visits = visits.max(1) as f32;
        Self { exploration: config.c_puct * visits.sqrt(), visits }
    }

    /// The score of a visited edge if it had `count` visits with the same mean value; that of one proven lost is the least.
    #[inline]
    fn score(&self, edge: &EdgeStats, count: f32) -> f32 {
        edge.q + self.exploration * edge.prior / (1.0 + count)
    }

    /// Visits that an edge is forced to have once it has one: `sqrt(k P N)`.
    fn forced(&self, edge: &EdgeStats, config: &Puct) -> f32 {
        (config.forced_playouts * edge.prior * self.visits).sqrt()
    }
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
        mix(edges, noise.fraction, samples.iter().map(|sample| sample / sum));
    }
}

/// Moves every prior by this fraction towards its share of the noise.
pub(super) fn mix(edges: &mut [Edge], fraction: f32, noise: impl Iterator<Item = f32>) {
    for (edge, share) in edges.iter_mut().zip(noise) {
        edge.prior += fraction * (share - edge.prior);
    }
}

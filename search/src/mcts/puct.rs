//! Choosing an edge inside the tree: PUCT with first-play urgency; at the root noise, forced playouts and their pruning.
//!
//! PUCT: Silver et al., "Mastering the game of Go without human knowledge" (2017). First-play-urgency reduction, the
//! scaling of the noise to the number of legal actions, forced playouts and policy-target pruning: Wu, "Accelerating
//! self-play learning in Go" (KataGo, 2019).

use rand::Rng;
use rand_distr::{Distribution, Gamma};
use turnstone_env::Game;

use super::method::{Puct, RootNoise};
use super::tree::{Edge, EdgeId, NodeId, Tree, Visits};

/// The edge with the greatest `Q + c P sqrt(N) / (1 + n)` for the node's mover; among equals the first. Edges proven
/// lost for the mover are passed over (the node itself would be proven if all were). At the root an edge that has been
/// visited, but not yet as often as it is to be forced, comes before all others.
pub(super) fn select<G: Game>(tree: &Tree<G>, node: NodeId, config: &Puct) -> EdgeId {
    let scale = Scale::of(tree, node, config);
    let edges = tree.edges_of(node);
    let force = node == 0 && config.forced_playouts > 0.0;
    let first = tree.node(node).first_edge();
    let mut best = (f32::NEG_INFINITY, first);
    // Unvisited edges have the same value, so the best of them is the one with the greatest prior.
    let mut fresh = (f32::NEG_INFINITY, first);
    for (edge, id) in edges.iter().zip(first..) {
        if !edge.is_followed() {
            if edge.prior > fresh.0 {
                fresh = (edge.prior, id);
            }
            continue;
        }
        let visits = tree.visits(edge);
        let Some(score) = scale.score(edge, visits, visits.begun) else { continue };
        if force && (visits.begun as f32) < scale.forced(edge, config) {
            return id;
        }
        if score > best.0 {
            best = (score, id);
        }
    }
    let unvisited = scale.unvisited + scale.exploration * fresh.0;
    if unvisited > best.0 || unvisited == best.0 && fresh.1 < best.1 { fresh.1 } else { best.1 }
}

/// Writes the visits of the root's edges without those that were only forced (policy-target pruning): every edge but the
/// most visited loses forced visits as long as its score stays below that of the most visited, and edges that are left
/// with one visit lose it too.
pub(super) fn pruned_visits<G: Game>(tree: &Tree<G>, config: &Puct, out: &mut Vec<f32>) {
    let scale = Scale::of(tree, 0, config);
    let edges = tree.edges_of(0);
    let visited = || edges.iter().map(|edge| (edge, tree.visits(edge)));
    let most = visited().map(|(_, visits)| visits.count).max().unwrap_or(0);
    let most_visited = visited().find(|(_, visits)| visits.count == most);
    let bar = most_visited.and_then(|(edge, visits)| scale.score(edge, visits, most));
    out.clear();
    out.extend(visited().map(|(edge, visits)| {
        let Some(bar) = bar.filter(|_| visits.count < most) else { return visits.count as f32 };
        let forced = scale.forced(edge, config).ceil() as u32;
        let least = visits.count.saturating_sub(forced);
        let mut kept = visits.count;
        while kept > least && scale.score(edge, visits, kept - 1).is_none_or(|score| score < bar) {
            kept -= 1;
        }
        if kept > 1 { kept as f32 } else { 0.0 }
    }));
}

/// The common terms of the scores of a node's edges.
struct Scale {
    sign: f32,
    /// Value of a draw for the first side.
    draw_value: f32,
    /// Value of an unvisited action (first-play urgency).
    unvisited: f32,
    /// `c sqrt(N)`.
    exploration: f32,
    /// Visits of the node.
    visits: f32,
}

impl Scale {
    fn of<G: Game>(tree: &Tree<G>, node: NodeId, config: &Puct) -> Self {
        let parent = tree.node(node);
        let sign = parent.mover.sign();
        let visited = tree.edges_of(node).iter().filter(|edge| edge.is_followed());
        let visited_prior: f32 = visited.map(|edge| edge.prior).sum();
        let visits = parent.visits_begun().max(1) as f32;
        let unvisited = (tree.mean(parent) - config.fpu_reduction * visited_prior.sqrt()).max(-1.0);
        Self { sign, draw_value: tree.draw_value, unvisited, exploration: config.c_puct * visits.sqrt(), visits }
    }

    /// The score of an edge with these visits if there were `count` of them with the same mean value; `None` if it is
    /// proven lost.
    fn score(&self, edge: &Edge, visits: Visits, count: u32) -> Option<f32> {
        let q = match edge.proven.get() {
            Some(0) => self.sign * self.draw_value,
            Some(value) if self.sign * f32::from(value) < 0.0 => return None,
            Some(_) => 1.0,
            None if visits.count == 0 => self.unvisited,
            None => self.sign * visits.mean(),
        };
        Some(q + self.exploration * edge.prior / (1 + count) as f32)
    }

    /// Visits that an edge is forced to have once it has one: `sqrt(k P N)`.
    fn forced(&self, edge: &Edge, config: &Puct) -> f32 {
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

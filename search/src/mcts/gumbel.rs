//! Gumbel search: sequential halving over sampled actions at the root, the improved policy inside the tree.
//!
//! Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel" (ICLR 2022); names and
//! formulas follow it and DeepMind's `mctx`. `q` is always for the node's mover, in -1..=1; `sigma` takes it to 0..=1, the
//! range that the paper's constants are for.

use std::sync::atomic::{AtomicU32, Ordering};

use rand::{Rng, RngExt};
use turnstone_env::Game;

use super::atomics::{Alone, count};
use super::method::Gumbel;
use super::tree::{Edge, EdgeId, NodeId, Tree, Visits};
use crate::evaluator::Evaluation;

/// State of the sequential halving at the root.
#[derive(Default, Debug)]
pub(super) struct Root {
    /// A sample of the Gumbel distribution per edge, times the noise scale.
    pub(super) gumbels: Vec<f32>,
    /// How often each edge has been selected in this search.
    pub(super) selected: Vec<AtomicU32>,
    /// For each simulation left, last first: how often the edges to select from have been selected.
    schedule: Vec<u32>,
}

impl Clone for Root {
    fn clone(&self) -> Self {
        let selected = self.selected.iter().map(|selected| selected.load(Ordering::Relaxed).into()).collect();
        Self { gumbels: self.gumbels.clone(), selected, schedule: self.schedule.clone() }
    }
}

impl Root {
    /// Begins a search of `simulations` simulations at the root of a tree.
    pub(super) fn begin<G: Game>(&mut self, tree: &Tree<G>, config: &Gumbel, simulations: u32, rng: &mut impl Rng) {
        let edges = tree.edges_of(0);
        self.gumbels.clear();
        self.gumbels.extend(edges.iter().map(|_| config.gumbel_scale * sample(rng)));
        self.selected.clear();
        self.selected.resize_with(edges.len(), AtomicU32::default);
        considered_visits(config.max_num_considered_actions.min(edges.len() as u32), simulations, &mut self.schedule);
        self.schedule.reverse();
    }

    /// The edge for the next simulation, after which `left` simulations are left: the best by `g + logit + sigma(q)` among
    /// those scheduled next.
    pub(super) fn select<G: Game>(&self, tree: &Tree<G>, config: &Gumbel, left: u32) -> EdgeId {
        let scheduled = self.schedule.get(left as usize).copied().unwrap_or(u32::MAX);
        let (in_turn, any) = self.best(tree, config, |selected| selected == scheduled);
        // An action that was proven lost leaves its place in the schedule empty: the best of all takes it instead.
        let edge = in_turn.or(any).unwrap_or(0);
        // Threads select one after the other.
        count::<Alone>(&self.selected[edge], 1);
        tree.root().first_edge() + edge as EdgeId
    }

    /// Takes back the selection of an edge.
    pub(super) fn take_back<G: Game>(&self, tree: &Tree<G>, edge: EdgeId) {
        if let Some(selected) = self.selected.get((edge - tree.root().first_edge()) as usize) {
            selected.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The number of the edge to play: the best by `g + logit + sigma(q)` among the most visited.
    pub(super) fn choose<G: Game>(&self, tree: &Tree<G>, config: &Gumbel) -> usize {
        let completed = Completed::of(tree, 0, config);
        let lost = |edge: &Edge| completed.q(edge, tree.visits(edge)) == LOST;
        let fresh = tree.edges_of(0).iter().zip(&self.selected).filter(|(edge, _)| !lost(edge));
        let most = fresh.map(|(_, selected)| selected.load(Ordering::Relaxed)).max().unwrap_or(0);
        let (best, any) = self.best(tree, config, |selected| selected == most);
        best.or(any).unwrap_or(0)
    }

    /// The best edge of the root among those that have been `wanted` often selected, and among all; edges proven lost are
    /// left out.
    fn best<G: Game>(
        &self,
        tree: &Tree<G>,
        config: &Gumbel,
        wanted: impl Fn(u32) -> bool,
    ) -> (Option<usize>, Option<usize>) {
        let completed = Completed::of(tree, 0, config);
        let (mut best, mut any) = ((f32::NEG_INFINITY, None), (f32::NEG_INFINITY, None));
        for (i, edge) in tree.edges_of(0).iter().enumerate() {
            let q = completed.q(edge, tree.visits(edge));
            if q == LOST {
                continue;
            }
            let score = self.gumbels[i] + edge.prior.max(f32::MIN_POSITIVE).ln() + completed.scale * q;
            if score > any.0 {
                any = (score, Some(i));
            }
            if score > best.0 && wanted(self.selected[i].load(Ordering::Relaxed)) {
                best = (score, Some(i));
            }
        }
        (best.1, any.1)
    }
}

/// The edge with the greatest `pi'(a) - N(a) / (1 + sum N)` inside the tree, where `pi'` is the improved policy: visits
/// follow it deterministically.
///
/// Unvisited edges all have the same value, so one exponential serves them all, and the best of them is the one with
/// the greatest prior.
pub(super) fn select<G: Game>(tree: &Tree<G>, node: NodeId, config: &Gumbel, weights: &mut Vec<f32>) -> EdgeId {
    let completed = Completed::of(tree, node, config);
    let edges = tree.edges_of(node);
    let first = tree.node(node).first_edge();
    let unvisited = completed.unvisited();
    let mut sum = 0.0;
    let mut fresh = (0.0, first);
    weights.clear();
    for (edge, id) in edges.iter().zip(first..) {
        let weight = if edge.is_followed() {
            completed.weight(edge, tree.visits(edge))
        } else {
            edge.prior.max(f32::MIN_POSITIVE) * unvisited
        };
        sum += weight;
        weights.push(weight);
        if !edge.is_followed() && weight > fresh.0 {
            fresh = (weight, id);
        }
    }
    let visits = 1.0 + completed.visits as f32;
    let mut best = (if fresh.0 > 0.0 { fresh.0 / sum } else { f32::NEG_INFINITY }, fresh.1);
    for ((edge, id), &weight) in edges.iter().zip(first..).zip(&*weights).filter(|((edge, _), _)| edge.is_followed()) {
        let score = weight / sum - tree.visits(edge).begun as f32 / visits;
        if weight > 0.0 && (score > best.0 || score == best.0 && id < best.1) {
            best = (score, id);
        }
    }
    best.1
}

/// Writes the improved policy `softmax(logits + sigma(completed q))` of a node; nothing goes to actions proven lost.
pub(super) fn improved_policy<G: Game>(tree: &Tree<G>, node: NodeId, config: &Gumbel, out: &mut Vec<f32>) {
    let completed = Completed::of(tree, node, config);
    out.clear();
    out.extend(tree.edges_of(node).iter().map(|edge| completed.weight(edge, tree.visits(edge))));
}

/// Value of a node whose mover plays the improved policy: the mean over the visited actions, weighted by it. `None`
/// if no action has been visited but such as are proven lost.
///
/// Sequential halving visits bad candidates as often as good ones at first, so that the plain mean over the simulations
/// underestimates what the mover can get.
pub(super) fn improved_estimate<G: Game>(tree: &Tree<G>, node: NodeId, config: &Gumbel) -> Option<Evaluation> {
    let completed = Completed::of(tree, node, config);
    let (mut sum, mut value, mut draw) = (0.0, 0.0, 0.0);
    for edge in tree.edges_of(node).iter().filter(|edge| edge.is_followed()) {
        let (weight, child) = (completed.weight(edge, tree.visits(edge)), tree.node(edge.child()).estimate());
        sum += weight;
        value += weight * child.value;
        draw += weight * child.draw;
    }
    (sum > 0.0).then(|| Evaluation { value: value / sum, draw: draw / sum })
}

/// Marks an edge proven lost for the mover among the values `q`, which are at least -1.
const LOST: f32 = -2.0;

/// Values of a node's actions, completed for the unvisited ones, and their scale (`v_mix` and `sigma` of the paper).
struct Completed {
    sign: f32,
    /// Value of a draw for the first side.
    draw_value: f32,
    /// The completed value of unvisited actions, `v_mix`.
    mixed_value: f32,
    /// The greatest value, subtracted before exponentials are taken.
    greatest: f32,
    /// The factor of `q`: `(c_visit + max N) c_scale`, halved because `q` is twice as wide as the paper's.
    scale: f32,
    /// Visits of all edges together.
    visits: u32,
}

impl Completed {
    fn of<G: Game>(tree: &Tree<G>, node: NodeId, config: &Gumbel) -> Self {
        let parent = tree.node(node);
        let sign = parent.mover.sign();
        let (mut visits, mut most, mut prior, mut weighted) = (0, 0, 0.0, 0.0);
        let mut greatest = -1.0f32;
        for edge in tree.edges_of(node).iter().filter(|edge| edge.is_followed()) {
            let through = tree.visits(edge);
            visits += through.begun;
            if through.count == 0 {
                continue; // only on other threads' ways
            }
            let exact = edge.proven.get().map(|value| tree.utility(Evaluation::exact(value)));
            let q = sign * exact.unwrap_or_else(|| through.mean());
            most = most.max(through.count);
            prior += edge.prior;
            weighted += edge.prior * q;
            greatest = greatest.max(q);
        }
        let raw = sign * parent.value.get();
        let known = if prior > 0.0 { weighted / prior } else { 0.0 };
        let mixed_value = (raw + visits as f32 * known) / (1.0 + visits as f32);
        let scale = (config.c_visit + most as f32) * config.c_scale / 2.0;
        Self { sign, draw_value: tree.draw_value, mixed_value, greatest: greatest.max(mixed_value), scale, visits }
    }

    /// The completed value of an edge, or [`LOST`].
    fn q(&self, edge: &Edge, visits: Visits) -> f32 {
        match edge.proven.get() {
            Some(0) => self.sign * self.draw_value,
            Some(value) if self.sign * f32::from(value) < 0.0 => LOST,
            Some(_) => 1.0,
            None if visits.count == 0 => self.mixed_value,
            None => self.sign * visits.mean(),
        }
    }

    /// The factor of an unvisited edge's prior in its weight.
    fn unvisited(&self) -> f32 {
        (self.scale * (self.mixed_value - self.greatest)).exp()
    }

    /// The edge's share of the improved policy, not normalised.
    fn weight(&self, edge: &Edge, visits: Visits) -> f32 {
        match self.q(edge, visits) {
            LOST => 0.0,
            q => edge.prior.max(f32::MIN_POSITIVE) * (self.scale * (q - self.greatest)).exp(),
        }
    }
}

/// A sample of the standard Gumbel distribution.
fn sample(rng: &mut impl Rng) -> f32 {
    let uniform: f32 = rng.random::<f32>().max(f32::MIN_POSITIVE);
    -(-uniform.ln()).max(f32::MIN_POSITIVE).ln()
}

/// The schedule of sequential halving: for each of `simulations` simulations the number of visits that the action to be
/// visited has had so far, when `considered` actions start and the worse half drops out after every round
/// (`get_sequence_of_considered_visits` of mctx).
pub(super) fn considered_visits(considered: u32, simulations: u32, schedule: &mut Vec<u32>) {
    schedule.clear();
    if considered <= 1 {
        schedule.extend(0..simulations);
        return;
    }
    let rounds = considered.next_power_of_two().trailing_zeros();
    // Those that are left have all been visited equally often.
    let (mut left, mut visits) = (considered, 0);
    while schedule.len() < simulations as usize {
        let extra = (simulations / (rounds * left)).max(1);
        for _ in 0..extra {
            schedule.extend(std::iter::repeat_n(visits, left as usize));
            visits += 1;
        }
        left = (left / 2).max(2);
    }
    schedule.truncate(simulations as usize);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn schedule(considered: u32, simulations: u32) -> Vec<u32> {
        let mut schedule = Vec::new();
        considered_visits(considered, simulations, &mut schedule);
        schedule
    }

    #[test]
    fn the_schedule_halves() {
        assert_eq!(schedule(1, 4), [0, 1, 2, 3]);
        assert_eq!(schedule(4, 8), [0, 0, 0, 0, 1, 1, 2, 2]);
        assert_eq!(schedule(4, 16), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
        assert_eq!(schedule(3, 5), [0, 0, 0, 1, 1]);
        assert_eq!(schedule(16, 4), [0, 0, 0, 0]);
    }

    #[test]
    fn gumbel_samples_have_their_mean_and_spread() {
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let samples: Vec<f32> = (0..100_000).map(|_| sample(&mut rng)).collect();
        let mean = samples.iter().sum::<f32>() / 1e5;
        let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 1e5;
        assert!((mean - 0.5772).abs() < 0.02 && (variance - 1.6449).abs() < 0.05, "{mean} {variance}");
    }
}

//! Gumbel search: sequential halving over sampled actions at the root, the improved policy inside the tree.
//!
//! Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel" (ICLR 2022); names and
//! formulas follow it and DeepMind's `mctx`. `q` is always for the node's mover, in -1..=1; `sigma` takes it to 0..=1, the
//! range that the paper's constants are for.

use std::sync::atomic::{AtomicU32, Ordering};

use rand::{Rng, RngExt};
use turnstone_env::Rules;

use super::atomics::{SingleThread, count};
use super::edge_stats::{Best, EdgeStats, LOST};
use super::method::Gumbel;
use super::tree::{EdgeId, NodeId, Tree};
use crate::backend::Evaluation;

/// State of the sequential halving at the root.
#[derive(Default, Debug)]
pub(super) struct Root {
    /// A sample of the Gumbel distribution per edge, times the noise scale.
    pub(super) gumbels: Vec<f32>,
    /// The logarithm of each edge's prior.
    logits: Vec<f32>,
    /// How often each edge has been selected in this search.
    pub(super) selected: Vec<AtomicU32>,
    /// For each simulation left, last first: how often the edges to select from have been selected.
    schedule: Vec<u32>,
}

impl Clone for Root {
    fn clone(&self) -> Self {
        let selected = self.selected.iter().map(|selected| selected.load(Ordering::Relaxed).into()).collect();
        let Self { gumbels, logits, schedule, .. } = self;
        Self { gumbels: gumbels.clone(), logits: logits.clone(), selected, schedule: schedule.clone() }
    }
}

impl Root {
    /// Begins a search of `simulations` simulations at the root of a tree.
    pub(super) fn begin<G: Rules>(&mut self, tree: &Tree<G>, config: &Gumbel, simulations: u32, rng: &mut impl Rng) {
        let edges = tree.edges_of(0);
        self.gumbels.clear();
        self.gumbels.extend(edges.iter().map(|_| config.gumbel_scale * sample(rng)));
        self.logits.clear();
        self.logits.extend(edges.iter().map(|edge| edge.prior.max(f32::MIN_POSITIVE).ln()));
        self.selected.clear();
        self.selected.resize_with(edges.len(), AtomicU32::default);
        considered_visits(config.considered.min(edges.len() as u32), simulations, &mut self.schedule);
        self.schedule.reverse();
    }

    /// The edge for the next simulation, after which `left` simulations are left: the best by `g + logit + sigma(q)` among
    /// those scheduled next. Places of the schedule that were taken back, `free`, are filled first, the earliest before the
    /// others.
    pub(super) fn select<G: Rules>(&self, tree: &Tree<G>, config: &Gumbel, left: u32, free: &mut Vec<u32>) -> EdgeId {
        let earliest = (0..free.len()).min_by_key(|&at| free[at]);
        let scheduled = match earliest {
            Some(at) => free.swap_remove(at),
            None => self.schedule.get(left as usize).copied().unwrap_or(u32::MAX),
        };
        let (in_turn, any) = self.best(tree, config, |selected| selected == scheduled);
        // An action that was proven lost leaves its place in the schedule empty: the best of all takes it instead.
        let edge = in_turn.or(any).unwrap_or(0);
        // Threads select one after the other.
        count::<SingleThread>(&self.selected[edge], 1);
        tree.root().first_edge() + edge as EdgeId
    }

    /// Takes back the selection of an edge. Returns how often it has been selected without it: the place of the schedule that
    /// is free again. `None` in a search without a schedule.
    pub(super) fn take_back<G: Rules>(&self, tree: &Tree<G>, edge: EdgeId) -> Option<u32> {
        let selected = self.selected.get((edge - tree.root().first_edge()) as usize)?;
        let without = selected.load(Ordering::Relaxed).checked_sub(1)?;
        selected.store(without, Ordering::Relaxed);
        Some(without)
    }

    /// The number of the edge to play: the best by `g + logit + sigma(q)` among the most visited.
    pub(super) fn choose<G: Rules>(&self, tree: &Tree<G>, config: &Gumbel) -> usize {
        let fresh = EdgeStats::all(tree, 0).zip(&self.selected).filter(|(edge, _)| !edge.is_lost());
        let most = fresh.map(|(_, selected)| selected.load(Ordering::Relaxed)).max().unwrap_or(0);
        let (best, any) = self.best(tree, config, |selected| selected == most);
        best.or(any).unwrap_or(0)
    }

    /// The best edge of the root among those that have been `wanted` often selected, and among all; edges proven lost are
    /// left out.
    fn best<G: Rules>(
        &self,
        tree: &Tree<G>,
        config: &Gumbel,
        wanted: impl Fn(u32) -> bool,
    ) -> (Option<usize>, Option<usize>) {
        let completed = Completed::of(tree, 0, config, EdgeStats::all(tree, 0));
        let (mut best, mut any) = ((f32::NEG_INFINITY, None), (f32::NEG_INFINITY, None));
        for (i, edge) in EdgeStats::all(tree, 0).enumerate().filter(|(_, edge)| !edge.is_lost()) {
            let q = if edge.is_visited() { edge.q } else { completed.mixed_value };
            let score = self.gumbels[i] + self.logits[i] + completed.scale * q;
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
/// follow it deterministically; among equals the first. `seen` is a buffer.
///
/// Unvisited edges all have the same value, so one exponential serves them all, and the best of them is the one with
/// the greatest prior.
pub(super) fn select<G: Rules>(tree: &Tree<G>, node: NodeId, config: &Gumbel, seen: &mut Vec<EdgeStats>) -> EdgeId {
    seen.clear();
    seen.extend(EdgeStats::all(tree, node));
    let completed = Completed::of(tree, node, config, seen.iter().copied());
    let mut sum = 0.0;
    for edge in &mut *seen {
        edge.score = completed.weight(edge);
        sum += edge.score;
    }
    let visits = 1.0 + completed.visits;
    let (mut best, mut fresh) = (Best::above(f32::NEG_INFINITY), Best::above(0.0));
    for (edge, at) in seen.iter().zip(0..) {
        best.take(edge.score / sum - edge.started / visits, at, edge.started > 0.0 && edge.score > 0.0);
        fresh.take(edge.score, at, edge.started == 0.0);
    }
    let unvisited = if fresh.score > 0.0 { fresh.score / sum } else { f32::NEG_INFINITY };
    let is_fresh = unvisited > best.score || unvisited == best.score && fresh.at < best.at;
    tree.node(node).first_edge() + if is_fresh { fresh.at } else { best.at }
}

/// Writes the improved policy `softmax(logits + sigma(completed q))` of a node; nothing goes to actions proven lost.
pub(super) fn improved_policy<G: Rules>(tree: &Tree<G>, node: NodeId, config: &Gumbel, out: &mut Vec<f32>) {
    let completed = Completed::of(tree, node, config, EdgeStats::all(tree, node));
    out.clear();
    out.extend(EdgeStats::all(tree, node).map(|edge| completed.weight(&edge)));
}

/// Value of a node whose mover plays the improved policy: the mean over the visited actions, weighted by it. `None`
/// if no action has been visited but such as are proven lost.
///
/// Sequential halving visits bad candidates as often as good ones at first, so that the plain mean over the simulations
/// underestimates what the mover can get.
pub(super) fn improved_estimate<G: Rules>(tree: &Tree<G>, node: NodeId, config: &Gumbel) -> Option<Evaluation> {
    let completed = Completed::of(tree, node, config, EdgeStats::all(tree, node));
    let (mut sum, mut value, mut draw) = (0.0, 0.0, 0.0);
    let edges = tree.edges_of(node).iter().zip(EdgeStats::all(tree, node));
    for (edge, seen) in edges.filter(|(edge, _)| edge.is_followed()) {
        let (weight, child) = (completed.weight(&seen), tree.node(edge.child()).estimate());
        sum += weight;
        value += weight * child.value;
        draw += weight * child.draw;
    }
    (sum > 0.0).then(|| Evaluation { value: value / sum, draw: draw / sum })
}

/// Values of a node's actions, completed for the unvisited ones, and their scale (`v_mix` and `sigma` of the paper).
struct Completed {
    /// The completed value of unvisited actions, `v_mix`.
    mixed_value: f32,
    /// The greatest value, subtracted before exponentials are taken.
    greatest: f32,
    /// The factor of `q`: `(c_visit + max N) c_scale`, halved because `q` is twice as wide as the paper's.
    scale: f32,
    /// The exponential of unvisited actions.
    unvisited: f32,
    /// Visits of all edges together.
    visits: f32,
}

impl Completed {
    fn of<G: Rules>(tree: &Tree<G>, node: NodeId, config: &Gumbel, edges: impl Iterator<Item = EdgeStats>) -> Self {
        let (mut visits, mut most, mut prior, mut weighted) = (0.0, 0.0f32, 0.0, 0.0);
        let mut greatest = -1.0f32;
        for edge in edges {
            let q = if edge.is_visited() { edge.q.max(-1.0) } else { -1.0 };
            let share = if edge.is_visited() { edge.prior } else { 0.0 };
            visits += edge.started;
            most = most.max(edge.count);
            prior += share;
            weighted += share * q;
            greatest = greatest.max(q);
        }
        let parent = tree.node(node);
        let raw = parent.mover.sign() * parent.value.get();
        let known = if prior > 0.0 { weighted / prior } else { 0.0 };
        let mixed_value = (raw + visits * known) / (1.0 + visits);
        let scale = (config.c_visit + most) * config.c_scale / 2.0;
        let greatest = greatest.max(mixed_value);
        let unvisited = (scale * (mixed_value - greatest)).exp();
        Self { mixed_value, greatest, scale, unvisited, visits }
    }

    /// The edge's share of the improved policy, not normalised.
    #[inline]
    fn weight(&self, edge: &EdgeStats) -> f32 {
        let power = match edge.q {
            _ if !edge.is_visited() => self.unvisited,
            LOST => 0.0,
            q if q == self.greatest => 1.0,
            q => (self.scale * (q - self.greatest)).exp(),
        };
        edge.prior.max(f32::MIN_POSITIVE) * power
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
    // All remaining actions have been visited equally often.
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

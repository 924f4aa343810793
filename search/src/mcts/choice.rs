//! Results of a search, read from its root: values, policy, the action to play and the expected line.

use rand::{Rng, RngExt};
use turnstone_env::{Action, Rules, Side};

use super::tree::{Edge, NO_NODE, NodeId};
use super::{Mcts, Method, gumbel, puct};
use crate::backend::Evaluation;

/// A legal action at the root after a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RootAction {
    /// The action.
    pub action: Action,
    /// Its prior, with the root noise of the search.
    pub prior: f32,
    /// Simulations that went through it.
    pub visits: u32,
    /// Its value for the first side, -1..=1; the mean over its simulations, or exact where proven. 0 if unvisited.
    pub value: f32,
    /// The exact value for the first side, if proven.
    pub proven: Option<i8>,
}

impl<G: Rules> Mcts<G> {
    /// The value of the root: exact if proven, else the mean over the simulations; after Gumbel search the mean over the
    /// visited actions, weighted by the improved policy.
    pub fn estimate(&self) -> Evaluation {
        let root = self.tree.root();
        match &self.plan.options.method {
            Method::Gumbel(config) if root.proven.get().is_none() => gumbel::improved_estimate(&self.tree, 0, config),
            _ => None,
        }
        .unwrap_or_else(|| root.estimate())
    }

    /// The results for the legal actions of the root, in increasing order. Empty before the first simulation and in a
    /// finished game.
    pub fn actions(&self) -> impl Iterator<Item = RootAction> + '_ {
        self.actions_of(0)
    }

    /// The results for the legal actions of the position that a line leads to from the root, as [`Mcts::actions`] gives
    /// them for the root itself. `None` where the tree ends before the line does, or at its end.
    pub fn actions_after(&self, line: &[Action]) -> Option<Vec<RootAction>> {
        let mut node = 0;
        for action in line {
            let edge = self.tree.edges_of(node).iter().find(|edge| edge.action == *action)?;
            node = Some(edge.child()).filter(|child| *child != NO_NODE)?;
        }
        self.tree.node(node).is_expanded().then(|| self.actions_of(node).collect())
    }

    fn actions_of(&self, node: NodeId) -> impl Iterator<Item = RootAction> + '_ {
        self.tree.edges_of(node).iter().map(|edge| {
            let child = edge.is_followed().then(|| self.tree.node(edge.child()).estimate());
            RootAction {
                action: edge.action,
                prior: edge.prior,
                visits: self.tree.visits(edge).count,
                value: edge.proven.get().map(f32::from).or(child.map(|child| child.value)).unwrap_or(0.0),
                proven: edge.proven.get(),
            }
        })
    }

    /// Writes the policy over the root's legal actions that results from the search, of sum 1: the distribution of visits,
    /// or the improved policy of Gumbel search. Actions proven worse than the best proven action have probability 0.
    pub fn policy(&self, out: &mut Vec<f32>) {
        let mover = self.mover();
        let edges = self.tree.edges_of(0);
        out.clear();
        match &self.plan.options.method {
            Method::Puct(config) if config.forced_playouts > 0.0 => puct::pruned_visits(&self.tree, config, out),
            Method::Puct(_) => out.extend(edges.iter().map(|edge| self.tree.visits(edge).count as f32)),
            Method::Gumbel(config) => gumbel::improved_policy(&self.tree, 0, config, out),
        }
        let sure = edges.iter().filter_map(|edge| self.proven_for(edge, mover)).max().unwrap_or(-1);
        let all_proven = edges.iter().all(|edge| self.proven_for(edge, mover).is_some());
        let keep = |edge: &Edge| match self.proven_for(edge, mover) {
            Some(value) => value == sure && (value > -1 || all_proven),
            None => sure < 1,
        };
        for (share, edge) in out.iter_mut().zip(edges) {
            *share = if keep(edge) { *share } else { 0.0 };
        }
        if out.iter().all(|&share| share == 0.0) {
            // Every action left has probability 0, as before the first simulation: the priors decide.
            let prior = |edge: &Edge| if keep(edge) { edge.prior.max(f32::MIN_POSITIVE) } else { 0.0 };
            out.iter_mut().zip(edges).for_each(|(share, edge)| *share = prior(edge));
        }
        let sum: f32 = out.iter().sum();
        out.iter_mut().for_each(|share| *share /= sum);
    }

    /// The action to play. After PUCT it is drawn from the policy sharpened by a temperature: 0 takes the greatest (the
    /// first among equals), 1 draws from the policy as it is. After Gumbel search it is the winner of the sequential
    /// halving, whose randomness is the noise at its root, and the temperature matters only once the root is proven.
    ///
    /// # Panics
    /// If no simulation has been run or the game is over.
    pub fn choose(&self, temperature: f32, rng: &mut impl Rng) -> Action {
        let edges = self.tree.edges_of(0);
        assert!(!edges.is_empty(), "a running position has to be searched before an action is chosen");
        if let Method::Gumbel(config) = &self.plan.options.method
            && self.proven().is_none()
        {
            return edges[self.plan.gumbel.choose(&self.tree, config)].action;
        }
        let mut weights = Vec::new();
        self.policy(&mut weights);
        edges[draw_weighted(&mut weights, temperature, rng)].action
    }

    /// The expected line: from the root the most visited actions, proven results first.
    pub fn principal_variation(&self) -> Vec<Action> {
        let mut line = Vec::new();
        self.follow(0, &mut line);
        line
    }

    /// The expected line if this action is played at the root; that action alone if it has not been searched.
    pub fn line(&self, action: Action) -> Vec<Action> {
        let mut line = vec![action];
        match self.tree.edges_of(0).iter().find(|edge| edge.action == action) {
            Some(edge) if edge.is_followed() => self.follow(edge.child(), &mut line),
            _ => {}
        }
        line
    }

    fn follow(&self, mut node: NodeId, line: &mut Vec<Action>) {
        loop {
            let mover = self.tree.node(node).mover;
            let visits = |edge: &Edge| self.tree.visits(edge).count;
            let rank = |edge: &Edge| (self.proven_for(edge, mover).filter(|&v| v != 0).unwrap_or(0), visits(edge));
            let edges = self.tree.edges_of(node);
            let Some(best) = edges.iter().rev().filter(|edge| visits(edge) > 0).max_by_key(|edge| rank(edge)) else {
                return;
            };
            line.push(best.action);
            node = best.child();
        }
    }

    fn proven_for(&self, edge: &Edge, mover: Side) -> Option<i8> {
        edge.proven.get().map(|value| match mover {
            Side::First => value,
            Side::Second => -value,
        })
    }
}

/// Draws an index from weights that are not all zero, sharpened by a temperature; 0 takes the greatest, the first among
/// equals. The weights are changed.
///
/// # Panics
/// If no weight is above zero.
pub fn draw_weighted(weights: &mut [f32], temperature: f32, rng: &mut impl Rng) -> usize {
    let greatest = weights.iter().copied().fold(0.0, f32::max);
    if temperature <= 0.0 {
        return weights.iter().position(|&w| w == greatest).expect("the greatest is one of them");
    }
    weights.iter_mut().for_each(|w| *w = (*w / greatest).powf(1.0 / temperature));
    let mut point = rng.random::<f32>() * weights.iter().sum::<f32>();
    for (i, weight) in weights.iter().enumerate() {
        if point < *weight {
            return i;
        }
        point -= weight;
    }
    // Rounding can leave a rest: the last index with any weight takes it.
    weights.iter().rposition(|&w| w > 0.0).expect("the greatest weight is 1")
}

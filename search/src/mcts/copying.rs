//! Copies of trees: of the part below a new root, and of the most visited part of a tree that has reached its limit.

use std::sync::atomic::Ordering;

use turnstone_env::Rules;

use super::Mcts;
use super::tree::{NO_NODE, NodeId, Tree};

impl<G: Rules> Mcts<G> {
    /// Limits the size of the tree to about `bytes` bytes, [`TREE_LIMIT`](super::TREE_LIMIT) by default. Its copy takes as
    /// much again while the root moves.
    ///
    /// When a tree reaches its limit, the nodes with the fewest visits are removed, about half of it, but for the root's
    /// children. What they have found stays in the nodes above them. Their actions count as unvisited, and are searched anew
    /// where the search comes back to them, but what was proven of them is kept.
    pub fn set_limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    /// Makes a tree that has reached its limit smaller.
    pub(super) fn keep_to_limit(&mut self) {
        if self.tree.bytes() > self.limit {
            self.shrink();
        }
    }

    /// Leaves at most half of the limit to the most visited nodes, and the rest to nodes to come.
    fn shrink(&mut self) {
        let least = self.tree.least_visits(self.limit / 2);
        self.tree.copy_subtree(0, least, &mut self.spare, &mut || true);
        std::mem::swap(&mut self.tree, &mut self.spare);
    }
}

impl<G: Rules> Tree<G> {
    /// The least number of visits, a power of two, with which at most `bytes` bytes of nodes and edges are kept, beside the
    /// root and its children.
    pub(super) fn least_visits(&self, bytes: u64) -> u32 {
        // Bytes of the nodes whose visits have this number of binary digits, with their edges.
        let mut by_digits = [0; 33];
        for id in 0..self.size()[0] as NodeId {
            let node = self.node(id);
            by_digits[(u32::BITS - node.visits().leading_zeros()) as usize] += Self::bytes_of([1, node.edges()]);
        }
        let mut kept = 0;
        let fits = |digits: &usize| {
            kept += by_digits[*digits];
            kept <= bytes
        };
        let digits = (1..=32).rev().take_while(fits).last().unwrap_or(33);
        u32::try_from(1_u64 << (digits - 1)).unwrap_or(u32::MAX)
    }

    /// Copies the subtree of `root` into `target`, breadth first, with `root` as its node 0, and without the nodes below its
    /// children that have fewer than `least` visits. Returns false if `go_on`, which is called every 1024 nodes, ended it.
    pub(super) fn copy_subtree(
        &self,
        root: NodeId,
        least: u32,
        target: &mut Self,
        go_on: &mut dyn FnMut() -> bool,
    ) -> bool {
        const NODES_PER_CHECK: usize = 1024;
        target.clear();
        target.make_room(1, 0);
        target.nodes.push(self.node(root).clone());
        let mut next = 0;
        while (next as usize) < target.nodes.len() {
            if (next as usize).is_multiple_of(NODES_PER_CHECK) && !go_on() {
                return false;
            }
            let least = if next == 0 { 0 } else { least };
            self.copy_children(next, least, target);
            next += 1;
        }
        true
    }

    /// Copies the edges of a node of `target`, which still points to those of this tree, and their children with at least so
    /// many visits.
    fn copy_children(&self, node: NodeId, least: u32, target: &mut Self) {
        let copied = target.node(node);
        let edges = self.edges.slice(copied.first_edge(), copied.edges());
        target.make_room(edges.iter().filter(|edge| edge.is_followed()).count(), edges.len());
        let copies = edges.iter().map(|edge| {
            let child = Some(edge.child()).filter(|child| *child != NO_NODE).map(|child| self.node(child));
            let kept = child.filter(|child| child.visits() >= least);
            edge.leading_to(kept.map_or(NO_NODE, |child| target.nodes.push(child.clone()).expect("there is room")))
        });
        let first_edge = target.edges.extend(edges.len(), copies).expect("there is room");
        target.node(node).first_edge.store(first_edge, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use turnstone_env::Notation;
    use turnstone_env::games::{Konane, Mancala};
    use turnstone_env::toy::Toy;

    use super::*;
    use crate::backend::{Backend, EvalBatch, Rollout};
    use crate::mcts::tree::Edge;
    use crate::mcts::{Gumbel, Method, Puct, RootAction};

    const METHODS: [Method; 2] = [Method::Puct(Puct::DEFAULT), Method::Gumbel(Gumbel::DEFAULT)];

    /// Runs simulations with playouts. Returns the greatest size of the tree, and how often it became smaller.
    fn run<G: Rules>(game: &G, search: &mut Mcts<G>, simulations: u32, method: Method) -> (u64, u32) {
        let (mut batch, mut evaluator) = (EvalBatch::default(), Rollout::new(1));
        let (mut largest, mut shrunk, mut before) = (0, 0, 0);
        search.begin(game, &method.into(), simulations, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        while let Some((state, legal)) = search.gather(game) {
            batch.clear();
            batch.push(*state, legal);
            evaluator.evaluate(game, &mut batch).expect("it never fails");
            let (priors, estimate) = batch.answer(0);
            search.apply(priors, estimate);
            let size = search.size().bytes;
            largest = largest.max(size);
            shrunk += u32::from(size < before);
            before = size;
        }
        (largest, shrunk)
    }

    #[test]
    fn a_search_keeps_to_its_limit_and_finds_what_one_without_finds() {
        const LIMIT: u64 = 200_000;
        let game = Mancala::default();
        for method in METHODS {
            let value = |limit: u64| {
                let mut search = Mcts::new(&game, game.start());
                search.set_limit(limit);
                let (largest, shrunk) = run(&game, &mut search, 20_000, method);
                let visits: u32 = search.actions().map(|action| action.visits).sum();
                assert_eq!((search.simulations_left(), visits), (0, 20_000), "{method:?}");
                (search.estimate().value, largest, shrunk)
            };
            let (limited, largest, shrunk) = value(LIMIT);
            let (free, unlimited, never) = value(u64::MAX);
            // One node with its edges fits on top of the limit.
            assert!(largest < LIMIT + 1000 && shrunk >= 5, "{largest} bytes, {shrunk} times smaller");
            assert!(unlimited > 4 * LIMIT && never == 0, "{unlimited} bytes");
            if method == METHODS[0] {
                assert!((limited - free).abs() < 0.05, "{limited} instead of {free}");
            }
        }
    }

    #[test]
    fn what_was_visited_most_is_kept() {
        let game = Konane::default();
        let mut search = Mcts::new(&game, game.start());
        run(&game, &mut search, 4000, METHODS[0]);
        let nodes = |search: &Mcts<Konane>, least: u32| -> Vec<u32> {
            let visits = (1..search.tree.size()[0] as NodeId).map(|id| search.tree.node(id).visits());
            let mut visits: Vec<u32> = visits.filter(|visits| *visits >= least).collect();
            visits.sort_unstable();
            visits
        };
        let (before, actions): (_, Vec<RootAction>) = (search.size().bytes, search.actions().collect());
        search.set_limit(before / 2);
        let least = search.tree.least_visits(before / 4);
        let kept = nodes(&search, least);
        search.keep_to_limit();
        assert!(least > 1 && kept.len() > 20, "{} nodes with {least} visits", kept.len());
        assert_eq!(nodes(&search, least), kept);
        assert!(search.actions().eq(actions), "the root's actions are as before");
        let below = nodes(&search, 1).len() - kept.len();
        assert!(below < search.actions().count(), "others than the root's children have been removed");
        // Half of what may be kept might fall to one power of two.
        assert!((before / 16..=before / 4 + 4000).contains(&search.size().bytes), "{before} {:?}", search.size());
    }

    #[test]
    fn proofs_outlive_the_nodes_that_they_are_of() {
        let game = Mancala::default();
        for (text, method, limit) in [
            ("1,0,2,0,1,2/16 0,3,0,2,1,1/19 1", METHODS[0], 20_000),
            ("1,0,2,0,1,2/16 0,3,0,2,1,1/19 1", METHODS[0], 50_000),
            ("0,1,0,4,0,1/17 2,0,0,1,3,1/18 2", METHODS[1], 15_000),
            ("1,1,0,0,2,2/15 3,0,1,1,1,1/20 2", METHODS[1], 20_000),
        ] {
            let state = game.parse_position(text).expect("possible");
            let proven = |limit: u64| {
                let mut search = Mcts::new(&game, state);
                search.set_limit(limit);
                let (_, shrunk) = run(&game, &mut search, 100_000, method);
                (search.proven().expect("few stones are left"), 100_000 - search.simulations_left(), shrunk)
            };
            let ((free, needed, _), (limited, with_limit, shrunk)) = (proven(u64::MAX), proven(limit));
            assert_eq!(limited, free, "{text}");
            assert!(shrunk > 0 && with_limit < 10 * needed, "{text}: {with_limit} instead of {needed}");
        }
    }

    #[test]
    fn a_proven_position_that_is_added_again_is_proven() {
        fn draws(depth: u32) -> String {
            if depth == 0 { "0".to_owned() } else { format!("1({0} {0})", draws(depth - 1)) }
        }
        // A position two plies from the root is proven soon, and is as good as all others.
        let game: Toy = format!("1(2(1(0 0) {}) {})", draws(7), draws(8)).parse().expect("a tree");
        let mut search = Mcts::new(&game, game.start());
        run(&game, &mut search, 40, METHODS[0]);
        search.set_limit(0);
        search.keep_to_limit();
        search.set_limit(u64::MAX);
        let known = |search: &Mcts<Toy>, followed: bool| {
            let edges = (0..search.tree.size()[0] as NodeId).flat_map(|id| search.tree.edges_of(id));
            let edges = edges.filter(|edge| edge.proven.get().is_some() && edge.is_followed() == followed);
            edges.map(Edge::child).collect::<Vec<_>>()
        };
        assert!(search.proven().is_none() && !known(&search, false).is_empty(), "a proof without its node");
        for _ in 0..40 {
            run(&game, &mut search, 1, METHODS[0]);
            let nodes = known(&search, true);
            assert!(nodes.iter().all(|&node| search.tree.node(node).proven.get().is_some()));
        }
        assert!(!known(&search, true).is_empty() && known(&search, false).is_empty(), "it has been added again");
    }
}

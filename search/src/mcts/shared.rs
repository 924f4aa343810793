//! One search by several threads: each takes simulations of the same tree, with an evaluator of its own.
//!
//! Simulations on their way count as visits in the exploration terms, but not in the mean values, so that the threads spread
//! (Liu, Chen, Yu, Li, Zhou, Liu: "Watch the unobserved", ICLR 2020). A thread that comes to a position that another is
//! evaluating waits for it and descends further.

use std::ops::Deref;
use std::sync::atomic::Ordering;

use turnstone_env::{Action, Rules};

use super::Mcts;
use super::atomics::MultiThread;
use super::simulator::{SearchStep, Simulator};
use crate::backend::Evaluation;

/// A search that several threads run at once. What has been found so far can be read meanwhile, from the [`Mcts`] behind it.
///
/// ```
/// use rand::SeedableRng;
/// use turnstone_env::{Rules, games::MuTorere};
/// use turnstone_search::{Backend, EvalBatch, Mcts, SearchOptions, SearchStep, Uniform};
///
/// let game = MuTorere::default();
/// let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
/// let mut search = Mcts::new(&game, game.start());
/// search.begin(&game, &SearchOptions::default(), 200, &mut rng);
/// let (_, legal) = search.gather(&game).expect("the root");
/// let priors = vec![1.0 / legal.len() as f32; legal.len()];
/// search.apply(&priors, Default::default());
/// while search.simulations_left() > 0 && search.proven().is_none() {
///     search.make_room(200);
///     let shared = search.share();
///     std::thread::scope(|scope| {
///         for _ in 0..2 {
///             scope.spawn(|| {
///                 let (mut simulator, mut batch) = (shared.simulator(), EvalBatch::default());
///                 loop {
///                     match simulator.step(&game) {
///                         SearchStep::Done => break,
///                         SearchStep::Finished => {}
///                         SearchStep::Leaf => {
///                             let (state, legal) = simulator.leaf();
///                             batch.clear();
///                             batch.push(*state, legal);
///                             Uniform.evaluate(&game, &mut batch).expect("it never fails");
///                             let (priors, estimate) = batch.answer(0);
///                             simulator.apply(priors, estimate);
///                         }
///                     }
///                 }
///             });
///         }
///     });
/// }
/// assert!(search.proven().is_some() || search.simulations_done() == 200);
/// ```
#[derive(Debug)]
pub struct SharedSearch<'a, G: Rules> {
    search: &'a Mcts<G>,
    /// Size in bytes at which the search ends.
    limit: u64,
}

impl<G: Rules> Deref for SharedSearch<'_, G> {
    type Target = Mcts<G>;

    fn deref(&self) -> &Mcts<G> {
        self.search
    }
}

impl<G: Rules> Mcts<G> {
    /// Shares the simulations that are left among threads. The search is over when every thread's [`SharedSimulator::step`] has
    /// returned [`SearchStep::Done`]; if simulations are left then and the root is not proven, the threads were ended or the
    /// tree is full, and [`Mcts::make_room`] lets the search continue.
    ///
    /// # Panics
    /// If the root has not been evaluated, or an evaluation is pending.
    pub fn share(&mut self) -> SharedSearch<'_, G> {
        assert!(self.tree.root().is_expanded() && !self.simulator.is_pending(), "the root has to be evaluated first");
        *self.plan.is_ended.get_mut() = false;
        // A tree that cannot be made smaller takes one more simulation.
        let limit = self.limit.max(self.tree.bytes());
        SharedSearch { search: self, limit }
    }

    /// Makes room for about this number of simulations, and at least one, without which a shared search may end early. A tree
    /// that has reached its limit is made smaller first.
    pub fn make_room(&mut self, simulations: u32) {
        self.keep_to_limit();
        let [nodes, edges] = self.tree.size();
        let simulations = simulations.max(1) as usize;
        let edges_per_node = edges.div_ceil(nodes).max(self.tree.edges_of(0).len());
        let at_least = *self.plan.too_many.get_mut() as usize;
        self.tree.make_room(simulations, at_least.max(simulations * edges_per_node));
    }
}

impl<'a, G: Rules> SharedSearch<'a, G> {
    /// A thread's own parts of the search.
    #[must_use]
    pub fn simulator(&self) -> SharedSimulator<'a, G> {
        SharedSimulator { search: self.search, limit: self.limit, simulator: Simulator::default() }
    }

    /// Ends the search: every thread's next step is the last.
    pub fn end(&self) {
        self.search.plan.is_ended.store(true, Ordering::Relaxed);
    }

    /// Whether the search was ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.search.plan.is_ended.load(Ordering::Relaxed)
    }

    /// How often a thread has waited for another's evaluation since the search was created.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.search.plan.waits.load(Ordering::Relaxed)
    }
}

/// A thread's part of a [`SharedSearch`], in the steps of an [`Mcts`]. If it is dropped while an evaluation is pending, its
/// simulation is taken back and the search ended.
#[derive(Debug)]
pub struct SharedSimulator<'a, G: Rules> {
    search: &'a Mcts<G>,
    limit: u64,
    simulator: Simulator<G>,
}

impl<G: Rules> SharedSimulator<'_, G> {
    /// Begins one simulation, as [`Mcts::step`] does. It may wait for another thread's evaluation.
    pub fn step(&mut self, game: &G) -> SearchStep {
        let Mcts { tree, plan, .. } = self.search;
        if plan.is_ended.load(Ordering::Relaxed) {
            return SearchStep::Done;
        }
        if tree.bytes() > self.limit {
            return self.end();
        }
        self.simulator.step::<MultiThread>(game, tree, plan).unwrap_or_else(|_| self.end())
    }

    /// The position to be evaluated after [`SearchStep::Leaf`], with its legal actions.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn leaf(&self) -> (&G::State, &[Action]) {
        self.simulator.leaf(&self.search.tree)
    }

    /// Takes the evaluation of the position, as [`Mcts::apply`] does.
    pub fn apply(&mut self, priors: &[f32], estimate: Evaluation) {
        let Mcts { tree, plan, .. } = self.search;
        if self.simulator.apply::<MultiThread>(tree, priors, estimate).is_err() {
            plan.too_many.fetch_max(self.leaf().1.len() as u32, Ordering::Relaxed);
            self.simulator.take_back(tree, plan);
            self.end();
        }
    }

    /// Takes the exact value of the position for the first side, as [`Mcts::set_proven`] does.
    pub fn set_proven(&mut self, value: i8) {
        self.simulator.set_proven::<MultiThread>(&self.search.tree, value);
    }

    fn end(&self) -> SearchStep {
        self.search.plan.is_ended.store(true, Ordering::Relaxed);
        SearchStep::Done
    }
}

impl<G: Rules> Drop for SharedSimulator<'_, G> {
    fn drop(&mut self) {
        if self.simulator.is_pending() {
            self.simulator.take_back(&self.search.tree, &self.search.plan);
            self.end();
        }
    }
}
